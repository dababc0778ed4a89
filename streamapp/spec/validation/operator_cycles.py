"""Operators that wait for each other: a circle hands on nothing, nor does what reads only from one."""

from collections.abc import Iterator, Mapping, Sequence

from streamapp.spec.problem import short
from streamapp.spec.validation.outline import Fault, Outline

MOST_SHOWN = 8


def operators_form_no_circle(app: Outline) -> Iterator[Fault]:
    """Every reading that closes a circle, told at the operator it comes back to; a table may close one."""
    paths = {step.name: step.path for step in app.operators}
    for circle in closed_circles(_sources(app)):
        message = f"operators read each other in a circle: {_arrows(circle)}; only a table may close one"
        yield paths[circle[0]], message


def closed_circles(sources: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """The circle that each reading closes, from the name that it comes back to, each followed by its source.

    A walk along the sources; `place` is where on the present way a name stands, or DONE.
    """
    place: dict[str, int] = {}
    done = -1
    for start in sources:
        if start in place:
            continue
        place[start] = 0
        way, pending_sources = [start], [iter(sources[start])]
        while way:
            source = next((name for name in pending_sources[-1] if place.get(name) != done), None)
            if source is None:
                place[way.pop()] = done
                pending_sources.pop()
            elif source in place:
                yield way[place[source] :]
            else:
                place[source] = len(way)
                way.append(source)
                pending_sources.append(iter(sources[source]))


def streams_reach_every_sink(app: Outline) -> Iterator[Fault]:
    """A sink behind a circle gets no row. A name that nobody knows is told elsewhere and may be a stream."""
    sources = _sources(app)
    readers: dict[str, list[str]] = {name: [] for name in sources}
    for name, before in sources.items():
        for source in before:
            readers[source].append(name)
    fed = [s.name for s in app.operators if not s.sources or len(sources[s.name]) < len(s.sources)]
    reached = set(fed)
    for name in fed:  # grows while it is walked
        fed += (new := [reader for reader in readers[name] if reader not in reached])
        reached.update(new)
    for step in app.operators:
        if step.traits and not step.traits.hands_on_rows and step.name not in reached:
            name = short(step.name)
            message = f'no stream reaches "{name}": all that it reads comes from a circle; read a stream too'
            yield (*step.path, step.kind, "from"), message


def _sources(app: Outline) -> dict[str, list[str]]:
    """The operators that each operator reads."""
    names = {step.name for step in app.operators} - {stream.name for stream in app.streams}
    return {step.name: [s.name for s in step.sources if s.name in names] for step in app.operators}


def _arrows(circle: Sequence[str]) -> str:
    """The circle, its end left out where it is long."""
    names = [short(name) for name in circle[:MOST_SHOWN]]
    left_out = len(circle) - len(names)
    shown = [*names, f"({left_out} more)"] if left_out else names
    return " <- ".join([*shown, names[0]])
