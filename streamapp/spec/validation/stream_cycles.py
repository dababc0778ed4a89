"""Streams that come back: what a sendTo writes to a stream may reach the same sendTo through the app again.

Without an end to it one record goes round for ever. A table ends it, since rows are kept there and not handed
on; a stream that says `feedback: true` is meant to be read by the app that writes it.
"""

from collections.abc import Iterator

from streamapp.spec.problem import short
from streamapp.spec.resource.operator_kinds import StreamUse
from streamapp.spec.resource.systems import TABLE_KINDS
from streamapp.spec.validation.operator_cycles import MOST_SHOWN, closed_circles
from streamapp.spec.validation.outline import Fault, ListEntry, OperatorEntry, Outline

_WATERMARK_FIELDS = ("delay", "idleTimeout", "idleQuorum")


def streams_do_not_come_back(app: Outline) -> Iterator[Fault]:
    """Every circle through a stream, told where the stream is written."""
    canonical = _canonical_names(app)
    writers = _writers(app, canonical)
    open_streams = {canonical[stream.name] for stream in app.streams if stream.fields.get("feedback") is True}
    operators = {step.name: step for step in app.operators if step.name not in canonical}
    tables = _tables(app)
    sources: dict[str, list[str]] = {
        name: []
        if name in open_streams
        else [writer.name for writer in writers.get(name, ()) if writer.name in operators]
        for name in dict.fromkeys(canonical.values())
    }
    for name, step in operators.items():
        read = (canonical.get(source.name, source.name) for source in step.sources)
        sources[name] = [source for source in read if source in operators or source in sources]
    for circle in closed_circles(sources):
        stream = next((name for name in circle if name not in operators), None)
        if stream is not None:
            yield _comes_back(stream, circle, operators, stream in tables)


def feedback_holds_no_watermark(app: Outline) -> Iterator[Fault]:
    """A stream of feedback waits for the windows that it feeds, so nothing may wait for its watermark."""
    canonical = _canonical_names(app)
    writers = _writers(app, canonical)
    for stream in app.streams:
        if stream.fields.get("feedback") is not True:
            continue
        if canonical[stream.name] not in writers:
            yield (*stream.path, "feedback"), f'no operator writes to "{short(stream.name)}"; leave it out'
        time = stream.fields.get("eventTime")
        if isinstance(time, dict):
            for key in _WATERMARK_FIELDS:
                if time.get(key) is not None:
                    message = "says when a watermark moves, and a stream of feedback has none; leave it out"
                    yield (*stream.path, "eventTime", key), message


def _comes_back(stream: str, circle: list[str], operators: dict[str, OperatorEntry], is_table: bool) -> Fault:
    start = circle.index(stream)
    way = [short(name) for name in reversed(circle[start + 1 :] + circle[: start + 1])]
    left_out = len(way) - MOST_SHOWN
    if left_out > 0:
        way = [*way[: MOST_SHOWN - 1], f"({left_out} more)", way[-1]]
    way.append(way[0])  # along the rows, back to where they began
    writer = operators[circle[(start + 1) % len(circle)]]
    written = writer.text(writer.kind, "stream")
    name = short(written.name if written else stream)
    mend = (
        "write to another table"
        if is_table
        else ("write to another stream, or say feedback: true on it if rows end on the way")
    )
    message = (
        f'what is written to "{name}" comes back to it, so that one record goes round for ever: '
        f"{' -> '.join(way)}; {mend}"
    )
    return (*writer.path, writer.kind, "stream"), message


def _tables(app: Outline) -> frozenset[str]:
    """The streams that are tables of a system, which take no `feedback`."""
    systems = {system.name for system in app.systems if system.fields.keys() & TABLE_KINDS}
    return frozenset(stream.name for stream in app.streams if _text(stream, "system") in systems)


def _canonical_names(app: Outline) -> dict[str, str]:
    """For each stream the first one that is declared for the same topic of the same system."""
    first: dict[tuple[str, str], str] = {}
    return {
        stream.name: first.setdefault(
            (_text(stream, "system"), _text(stream, "topic") or stream.name), stream.name
        )
        for stream in app.streams
    }


def _text(entry: ListEntry, key: str) -> str:
    reference = entry.text(key)
    return reference.name if reference else ""


def _writers(app: Outline, canonical: dict[str, str]) -> dict[str, list[OperatorEntry]]:
    writers: dict[str, list[OperatorEntry]] = {}
    for step in app.operators:
        stream = step.text(step.kind, "stream")
        if stream and step.traits and step.traits.stream is StreamUse.WRITES and stream.name in canonical:
            writers.setdefault(canonical[stream.name], []).append(step)
    return writers
