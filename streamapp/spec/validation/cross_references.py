"""The rules across lists: every name used exists and is used as what it is, names are unique."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple

from streamapp.spec.problem import nearest, short
from streamapp.spec.text.document import Path, dotted
from streamapp.spec.validation.deployment_rules import (
    accounts_of_others_get_no_annotations,
    autoscaling_has_a_target_and_room,
    repeated_variables,
    restarts_wait_no_longer_than_the_most,
    spark_settings_are_those_of_spark,
    standby_executors_have_a_standby,
)
from streamapp.spec.validation.operator_cycles import operators_form_no_circle, streams_reach_every_sink
from streamapp.spec.validation.outline import Fault, ListEntry, NameReference, OperatorEntry, Outline
from streamapp.spec.validation.stream_cycles import feedback_holds_no_watermark, streams_do_not_come_back
from streamapp.spec.value_types.column_list import Column, ColumnListError, parse_columns
from streamapp.spec.value_types.durations import milliseconds
from streamapp.spec.value_types.record_fields import FIELD_TYPES, RecordField

WHOLE_NUMBERS = ("BIGINT", "LONG", "INT", "INTEGER")
"""Types of a column that may count milliseconds or seconds."""
COMPARISONS = 100_000
"""Names compared for likeness in one list at most: beyond that a file has another fault than its spelling."""


def reference_faults(app: Outline) -> Iterator[Fault]:
    """Everything wrong in how the parts of an app name each other."""
    for rule in RULES:
        yield from rule(app)


def _names_are_unique(app: Outline) -> Iterator[Fault]:
    for what, entries in (
        ("system", app.systems),
        ("table", app.tables),
        ("name", (*app.streams, *app.operators)),
    ):
        path_of: dict[str, Path] = {}
        for entry in entries:
            if entry.name in path_of:
                first = dotted(path_of[entry.name])
                remark = "; streams and operators share one set of names" if what == "name" else ""
                yield (*entry.path, "name"), f'the {what} "{short(entry.name)}" is taken by {first}{remark}'
            else:
                path_of[entry.name] = entry.path


def _systems_exist(app: Outline) -> Iterator[Fault]:
    if "systems" not in app.broken:
        yield from _unknown((stream.text("system") for stream in app.streams), app.systems, "system")


def _at_most_one_system_is_the_home(app: Outline) -> Iterator[Fault]:
    homes = [system for system in app.systems if system.fields.get("home") is True]
    for system in homes[1:]:
        first = dotted(homes[0].path)
        yield (*system.path, "home"), f"the home of the app is {first} already; one system is"


def _sources_exist(app: Outline) -> Iterator[Fault]:
    if app.broken.isdisjoint({"streams", "operators"}):
        known_names = {entry.name for entry in (*app.streams, *app.operators)}
        readers: dict[str, list[OperatorEntry]] = defaultdict(list)
        for step in app.operators:
            for source in step.sources:
                readers[source.name].append(step)
        compared = 0
        for step in app.operators:
            for source in step.sources:
                if source.name in known_names:
                    continue
                suggestion = ""
                if compared <= COMPARISONS:
                    suggestion = nearest(source.name, _readable(app, step, readers))
                    compared += len(known_names)
                yield source.path, f'no stream or operator named "{short(source.name)}"{suggestion}'


def _readable(app: Outline, step: OperatorEntry, readers: Mapping[str, Sequence[OperatorEntry]]) -> list[str]:
    """The names that an operator could read: no sink, nothing after it, and no stream written there."""
    after, written = {step.name}, set[str]()
    waiting = [step.name]
    while waiting:
        new = [r.name for r in readers.get(waiting.pop(), ()) if r.name not in after]
        after.update(new)
        waiting += new
    for other in app.operators:
        if other.name in after and (stream := other.text(other.kind, "stream")):
            written.add(stream.name)
    streams = [stream.name for stream in app.streams if stream.name not in written]
    operators = [
        other.name
        for other in app.operators
        if other.name not in after and not (other.traits and not other.traits.hands_on_rows)
    ]
    return list(dict.fromkeys(streams + operators))


def _streams_exist(app: Outline) -> Iterator[Fault]:
    used = [step.text(step.kind, "stream") for step in app.operators]
    for table in app.tables:
        inputs = table.fields.get("sideInputs")
        for index, fields in enumerate(inputs if isinstance(inputs, list) else ()):
            if isinstance(fields, dict):
                used.append(ListEntry("", (*table.path, "sideInputs", index), fields).text("stream"))
    used += [app.spec.text(key, "stream") for key in ("onBadRecord", "onCodeError", "lateRows")]
    used += [
        NameReference(name.partition("#")[0], path)
        for name, path in map(astuple, app.spec.texts("broadcastInputs"))
    ]
    if "streams" not in app.broken:
        yield from _unknown(used, app.streams, "stream")


def _tables_exist(app: Outline) -> Iterator[Fault]:
    if "tables" not in app.broken:
        yield from _unknown((table for step in app.operators for table in step.tables), app.tables, "table")


def _unknown(
    used: Iterable[NameReference | None], entries: tuple[ListEntry, ...], what: str
) -> Iterator[Fault]:
    names = list(dict.fromkeys(entry.name for entry in entries))
    known_names, likeness = set(names), dict[str, str]()
    for use in used:
        if use is None or use.name in known_names:
            continue
        if use.name not in likeness and len(likeness) * len(names) <= COMPARISONS:
            likeness[use.name] = nearest(use.name, names)
        yield use.path, f'no {what} named "{short(use.name)}"{likeness.get(use.name, "")}'


def _nothing_reads_from_a_sink(app: Outline) -> Iterator[Fault]:
    sinks = {step.name: step.kind for step in app.operators if step.traits and not step.traits.hands_on_rows}
    for step in app.operators:
        for source in step.sources:
            if kind := sinks.get(source.name):
                yield (
                    source.path,
                    f'"{short(source.name)}" is a {kind} and hands nothing on; read what it reads',
                )


def _tables_are_filled_in_one_way(app: Outline) -> Iterator[Fault]:
    writers = [step for step in app.operators if step.traits and step.traits.writes_tables]
    sends = {t.name: t.path for w in writers if w.traits and w.traits.fills_tables for t in w.tables}
    written = {table.name for writer in writers for table in writer.tables}
    used = {t.name for step in app.operators for t in step.tables}
    for table in app.tables:
        side, remote = table.fields.get("sideInputs"), table.fields.get("remote")
        name = f'table "{short(table.name)}"'
        if remote and side:
            yield (*table.path, "sideInputs"), "a remote table has no side inputs; take out one of the two"
        if table.name in sends and remote:
            yield sends[table.name], f"{name} is remote and is only read"
        elif table.name in sends and side:
            yield sends[table.name], f"{name} is filled by side inputs and nothing else may write to it"
        if table.fields.get("broadcast") is True and not (side or remote):
            yield (*table.path, "broadcast"), "a broadcast table is filled by side inputs; it has none"
        elif table.name in used and not (side or remote or table.name in written):
            yield table.path, f"nothing fills {name}: give it sideInputs, a remote, or a sendToTable"


def _side_inputs_are_made_in_one_way(app: Outline) -> Iterator[Fault]:
    for table in app.tables:
        sides = table.fields.get("sideInputs")
        for index, side in enumerate(sides if isinstance(sides, list) else ()):
            if not isinstance(side, dict) or side.get("python") is None:
                continue
            for name in ("key", "value"):
                if side.get(name) is not None:
                    message = "goes without python only: a function gives keys and rows itself; leave one out"
                    yield (*table.path, "sideInputs", index, name), message


def _side_inputs_fill_once_and_need_no_changelog(app: Outline) -> Iterator[Fault]:
    for table in app.tables:
        sides = table.fields.get("sideInputs")
        if not isinstance(sides, list):
            continue
        name, filling_streams = f'table "{short(table.name)}"', set[str]()
        if sides and table.fields.get("changelog") is True:
            message = f"{name} is filled by side inputs and has no changelog: it is filled from them again"
            yield (*table.path, "changelog"), message
        for index, fields in enumerate(sides):
            path = (*table.path, "sideInputs", index)
            stream = ListEntry("", path, fields).text("stream") if isinstance(fields, dict) else None
            if stream and stream.name in filling_streams:
                yield stream.path, f'{name} is filled by "{short(stream.name)}" already'
            elif stream:
                filling_streams.add(stream.name)


def _columns_named_exist(app: Outline) -> Iterator[Fault]:
    for stream in app.streams:
        columns = _columns(stream)
        if columns is None:
            continue
        columns = (*columns, *(_columns(stream, "metadata", "keyColumns") or ()))
        names = {column.name.lower(): column for column in columns}
        time = stream.text("eventTime", "column")
        for used, field in ((stream.text("key"), RecordField.KEY), (time, RecordField.TIMESTAMP)):
            if used is None or used.name.lower() in names:
                continue
            held = _field_of_record(stream, used.name)
            if held is field:
                names[used.name.lower()] = Column(used.name, FIELD_TYPES[field])
            elif held:
                message = f"is the record's {held}; name a column of the values, or that of metadata.{field}"
                yield used.path, f'"{short(used.name)}" {message}'
            else:
                suggestion = nearest(used.name, [column.name for column in columns])
                yield used.path, f'no column "{short(used.name)}" in the stream\'s columns{suggestion}'
        if time and (column := names.get(time.name.lower())):
            yield from _event_time_unit(stream, time, column)


def _field_of_record(stream: ListEntry, column: str) -> RecordField | None:
    """The field of its records that the stream names a column for."""
    named = ((field, stream.text("metadata", field)) for field in RecordField)
    return next((field for field, name in named if name and name.name.lower() == column.lower()), None)


def _event_time_unit(stream: ListEntry, time: NameReference, column: Column) -> Iterator[Fault]:
    unit, named = stream.text("eventTime", "unit"), f'column "{short(column.name)}" is {column.type}'
    if column.type.startswith("TIMESTAMP"):
        if unit:
            yield unit.path, f"{named}, which is a time by itself; leave unit out"
    elif column.type not in WHOLE_NUMBERS:
        whole = "a TIMESTAMP, or a BIGINT with a unit"
        yield time.path, f"{named}; event time has to be {whole}"
    elif not unit:
        missing = "say unit: milliseconds or unit: seconds, for the two look alike"
        yield time.path, f"{named}; {missing}"


def _columns(stream: ListEntry, *path: str) -> tuple[Column, ...] | None:
    text = stream.text(*(path or ("columns",)))
    try:
        return parse_columns(text.name) if text else None
    except ColumnListError:
        return None  # told where the column list stands


def _hopping_windows_leave_no_gap(app: Outline) -> Iterator[Fault]:
    for step in app.operators:
        size = step.text(step.kind, "window", "hopping", "size")
        advance = step.text(step.kind, "window", "hopping", "advance")
        if size and advance and _is_longer(advance.name, size.name):
            message = (
                f"found {short(advance.name)}, longer than the size {short(size.name)}: rows between two "
                "windows would be in none; make it the size at most"
            )
            yield advance.path, message


def _is_longer(one: str, other: str) -> bool:
    try:
        return milliseconds(one) > milliseconds(other)
    except ValueError:
        return False  # told where the duration stands


def _exactly_one_kind(app: Outline) -> Iterator[Fault]:
    for step in app.operators:
        window = step.body.get("window")
        if isinstance(window, dict):
            kinds = [kind for kind, value in window.items() if value is not None]
            if len(kinds) != 1:
                kind_list = " and ".join(map(short, kinds)) or "none"
                yield (
                    (*step.path, step.kind, "window"),
                    f"takes exactly one of tumbling, hopping, session; found {kind_list}",
                )
        if step.traits and step.traits.takes_select_or_python and step.body:
            yield from _select_or_python(step.body, (*step.path, step.kind))


def _select_or_python(body: dict[str, object], path: Path) -> Iterator[Fault]:
    select, python, columns = (body.get(key) is not None for key in ("select", "python", "columns"))
    if select == python:
        yield path, f"takes either select or python; found {'both' if select else 'neither'}"
    elif python and not columns:
        yield (*path, "columns"), "missing; say which columns the Python function returns"
    elif select and columns:
        yield (
            (*path, "columns"),
            "goes with python only: a select list already names its columns; leave it out",
        )


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
    _at_most_one_system_is_the_home,
    _sources_exist,
    _streams_exist,
    _tables_exist,
    _nothing_reads_from_a_sink,
    operators_form_no_circle,
    streams_reach_every_sink,
    streams_do_not_come_back,
    feedback_holds_no_watermark,
    _tables_are_filled_in_one_way,
    _side_inputs_are_made_in_one_way,
    _side_inputs_fill_once_and_need_no_changelog,
    _columns_named_exist,
    _hopping_windows_leave_no_gap,
    _exactly_one_kind,
    _volumes_fit_the_location,
    repeated_variables,
    accounts_of_others_get_no_annotations,
    autoscaling_has_a_target_and_room,
    restarts_wait_no_longer_than_the_most,
    spark_settings_are_those_of_spark,
    standby_executors_have_a_standby,
)
