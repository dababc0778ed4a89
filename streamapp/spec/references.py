"""The rules across lists: every name used exists, names are unique, operators form no circle."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple

from streamapp.spec.columns import Column, ColumnListError, parse_columns
from streamapp.spec.outline import Entry, Named, Outline
from streamapp.spec.problem import nearest
from streamapp.spec.reading import Path

Fault = tuple[Path, str]
"""Where, and what is wrong there."""


def faults(app: Outline) -> Iterator[Fault]:
    """Everything wrong in how the parts of an app name each other."""
    for rule in RULES:
        yield from rule(app)


def _names_are_unique(app: Outline) -> Iterator[Fault]:
    for what, entries in (
        ("system", app.systems),
        ("table", app.tables),
        ("name", (*app.streams, *app.operators)),
    ):
        seen: dict[str, Path] = {}
        for entry in entries:
            if entry.name in seen:
                first = dotted(seen[entry.name])
                rest = "; streams and operators share one set of names" if what == "name" else ""
                yield (*entry.path, "name"), f'the {what} "{entry.name}" is taken by {first}{rest}'
            else:
                seen[entry.name] = entry.path


def _systems_exist(app: Outline) -> Iterator[Fault]:
    yield from _unknown((stream.text("system") for stream in app.streams), app.systems, "system")


def _sources_exist(app: Outline) -> Iterator[Fault]:
    used = (source for step in app.operators for source in step.sources)
    yield from _unknown(used, (*app.streams, *app.operators), "stream or operator")


def _streams_exist(app: Outline) -> Iterator[Fault]:
    used = [step.text("sendTo", "stream") for step in app.operators]
    for table in app.tables:
        inputs = table.fields.get("sideInputs")
        for index, fields in enumerate(inputs if isinstance(inputs, list) else ()):
            if isinstance(fields, dict):
                used.append(Entry("", (*table.path, "sideInputs", index), fields).text("stream"))
    used += [app.spec.text(key, "stream") for key in ("onBadRecord", "lateRows")]
    used += [
        Named(name.partition("#")[0], path) for name, path in map(astuple, app.spec.texts("broadcastInputs"))
    ]
    yield from _unknown(used, app.streams, "stream")


def _tables_exist(app: Outline) -> Iterator[Fault]:
    yield from _unknown((table for step in app.operators for table in step.tables), app.tables, "table")


def _unknown(used: Iterable[Named | None], there: tuple[Entry, ...], what: str) -> Iterator[Fault]:
    names = {entry.name: None for entry in there}
    for use in used:
        if use and use.name not in names:
            yield use.path, f'no {what} named "{use.name}"{nearest(use.name, list(names))}'


def _nothing_reads_from_a_sink(app: Outline) -> Iterator[Fault]:
    sinks = {step.name: step.kind for step in app.operators if step.kind in {"sendTo", "sendToTable"}}
    for step in app.operators:
        for source in step.sources:
            if kind := sinks.get(source.name):
                yield source.path, f'"{source.name}" is a {kind} and hands nothing on; read what it reads'


def _operators_form_no_circle(app: Outline) -> Iterator[Fault]:
    """Each circle once, told at its first operator; through a table a circle is allowed."""
    reads = {step.name: [source.name for source in step.sources] for step in app.operators}
    state: dict[str, bool] = {}  # True: on the way; False: done
    for start in app.operators:
        trail: list[tuple[str, Iterator[str]]] = []
        if start.name not in state:
            state[start.name] = True
            trail.append((start.name, iter(reads[start.name])))
        while trail:
            name, rest = trail[-1]
            step = next((n for n in rest if n in reads and state.get(n) is not False), None)
            if step is None:
                state[name] = False
                trail.pop()
            elif state.get(step):
                names = [n for n, _ in trail]
                circle = [*names[names.index(step) :], step]
                there = next(s for s in app.operators if s.name == step)
                arrows = " <- ".join(circle)
                yield (
                    there.path,
                    f"operators read each other in a circle: {arrows}; only a table may close one",
                )
            else:
                state[step] = True
                trail.append((step, iter(reads[step])))


def _tables_are_filled_in_one_way(app: Outline) -> Iterator[Fault]:
    sends = {t.name: t.path for step in app.operators if step.kind == "sendToTable" for t in step.tables}
    processes = {t.name for step in app.operators if step.kind == "process" for t in step.tables}
    used = {t.name for step in app.operators for t in step.tables}
    for table in app.tables:
        side, remote = table.fields.get("sideInputs"), table.fields.get("remote")
        name = f'table "{table.name}"'
        if remote and side:
            yield (*table.path, "sideInputs"), "a remote table has no side inputs; take out one of the two"
        if table.name in sends and remote:
            yield sends[table.name], f"{name} is remote and is only read"
        elif table.name in sends and side:
            yield sends[table.name], f"{name} is filled by side inputs and nothing else may write to it"
        if table.fields.get("broadcast") is True and not (side or remote):
            yield (*table.path, "broadcast"), "a broadcast table is filled by side inputs; it has none"
        elif table.name in used and not (side or remote or table.name in sends or table.name in processes):
            yield table.path, f"nothing fills {name}: give it sideInputs, a remote, or a sendToTable"


def _columns_named_exist(app: Outline) -> Iterator[Fault]:
    for stream in app.streams:
        columns = _columns(stream)
        if columns is None:
            continue
        names = {column.name.lower(): column for column in columns}
        for used in (stream.text("key"), stream.text("eventTime", "column")):
            if used and used.name.lower() not in names:
                found = nearest(used.name, [column.name for column in columns])
                yield used.path, f'no column "{used.name}" in the stream\'s columns{found}'
        time = stream.text("eventTime", "column")
        if time and (column := names.get(time.name.lower())) and not column.type.startswith("TIMESTAMP"):
            yield time.path, f'column "{column.name}" is {column.type}; event time has to be a TIMESTAMP'


def _columns(stream: Entry) -> tuple[Column, ...] | None:
    text = stream.text("columns")
    try:
        return parse_columns(text.name) if text else None
    except ColumnListError:
        return None  # told where the column list stands


def _exactly_one_kind(app: Outline) -> Iterator[Fault]:
    for step in app.operators:
        window = step.fields[step.kind].get("window") if isinstance(step.fields[step.kind], dict) else None
        if isinstance(window, dict) and sum(v is not None for v in window.values()) != 1:
            yield (*step.path, step.kind, "window"), "takes exactly one of tumbling, hopping, session"
        if step.kind in {"map", "flatMap"} and isinstance(body := step.fields[step.kind], dict):
            yield from _select_or_python(body, (*step.path, step.kind))


def _select_or_python(body: dict[str, object], path: Path) -> Iterator[Fault]:
    if ("select" in body) == ("python" in body):
        yield (
            path,
            "takes either select or python" + (", found both" if "select" in body else ", found neither"),
        )
    elif "python" in body and "columns" not in body:
        yield (*path, "columns"), "missing; say which columns the Python function returns"


def _volumes_fit_the_location(app: Outline) -> Iterator[Fault]:
    location = app.spec.text("placement", "location")
    state = app.spec.fields.get("state")
    volumes = state if isinstance(state, dict) else {}
    if location and "volume" in location.name.split("+") and "persistentVolumeClaim" not in volumes:
        yield (
            location.path,
            '"volume" needs state.persistentVolumeClaim: other volumes do not outlive their pod or node',
        )
    kinds = [
        kind for kind in ("persistentVolumeClaim", "hostPath", "emptyDir") if volumes.get(kind) is not None
    ]
    if len(kinds) > 1:
        yield ("spec", "state"), f"takes one kind of volume, found {' and '.join(kinds)}"


RULES: tuple[Callable[[Outline], Iterator[Fault]], ...] = (
    _names_are_unique,
    _systems_exist,
    _sources_exist,
    _streams_exist,
    _tables_exist,
    _nothing_reads_from_a_sink,
    _operators_form_no_circle,
    _tables_are_filled_in_one_way,
    _columns_named_exist,
    _exactly_one_kind,
    _volumes_fit_the_location,
)


def dotted(path: Path) -> str:
    """A path as people write it: `spec.operators[3].joinTable.table`."""
    words = ""
    for step in path:
        words += f"[{step}]" if isinstance(step, int) else f".{step}" if words else str(step)
    return words
