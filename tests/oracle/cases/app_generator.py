"""Random apps: resources as data, operator after operator over the flows that there are so far."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tests.oracle.cases import expression_pool, own_code_generator, registry_generator
from tests.oracle.cases.app_draft import KEY_COLUMN, AppDraft, Flow, Part
from tests.oracle.cases.case import TABLES, Edit
from tests.oracle.cases.column_values import (
    ARROW,
    HEADER_TYPES,
    KEY_TYPES,
    METADATA,
    WHOLE_VALUES,
    metadata_columns,
)
from tests.oracle.cases.edit_generator import random_edits
from tests.oracle.cases.resource_reading import columns_of
from tests.oracle.cases.schema_texts import SchemaVersion


@dataclass(frozen=True, slots=True)
class RandomApp:
    """The resource of an app, edits that it gets in their order, and schemas by stream."""

    resource: Part
    edits: list[Edit]
    schemas: Mapping[str, Sequence[SchemaVersion]]
    key_schemas: Mapping[str, str]


def random_app(chance: random.Random, partitions: int, whole_sends: bool) -> RandomApp:
    """An app of up to three inputs and six operators, and outputs of all that nothing else reads."""
    is_batch, key_type = chance.random() < 0.3, chance.choice(KEY_TYPES)
    draft = AppDraft(chance, partitions, whole_sends, is_batch, key_type, chance.random() < 0.3)
    for number in range(chance.randint(1, 3)):
        _add_input(draft, f"in{number}")
    for _ in range(chance.randint(1, 6)):
        kind = chance.choice((*GENERATED, *OFTEN))
        GENERATED[kind](draft)
    for flow in [flow for flow in draft.flows if _is_unread(draft, flow)] or draft.flows[-1:]:
        _add_output(draft, flow)
    edits = random_edits(draft)
    history = _history(draft)
    systems: list[Part] = [{"name": "main", **_system(draft, "data")}]
    if chance.random() < 0.3:
        systems.append({"name": "other", "home": True, **_system(draft, "other")})
        for stream in draft.streams:
            stream["system"] = chance.choice(("main", "other"))
    if history is not None:
        systems.append({"name": TABLES, "files": {"path": "files", "format": "json"}})
        history["system"] = TABLES
    spec: Part = {
        "systems": systems,
        "mode": "batch" if draft.is_batch else "stream",
        "onBadRecord": {"action": "skip", "bound": {"share": "100%", "inARow": 1_000_000_000}},
        "streams": draft.streams,
        "tables": draft.tables,
        "operators": draft.operators,
    }
    if chance.random() < 0.07:
        spec["grouper"] = "single"
    if not whole_sends:
        spec["batch"] = {"rows": chance.choice((1, 2, 3, 7, 20))}
    metadata = {"name": "oracle", "namespace": "test"}
    head = {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": metadata}
    return RandomApp({**head, "spec": spec}, edits, draft.schemas, draft.key_schemas)


def _history(draft: AppDraft) -> Part | None:
    """One of several inputs as a table, which others may come after; None where none is to be one."""
    chance, read = (
        draft.chance,
        {flow.name for flow in draft.flows} - {flow.name for flow in draft.flows if _is_unread(draft, flow)},
    )
    inputs = [one for one in draft.streams if one["name"].startswith("in") and one["name"] in read]
    plain = [one for one in inputs if one.get("format") == "json" and not one.keys() & _OF_RECORDS]
    if draft.is_batch or len(inputs) < 2 or not plain or chance.random() < 0.6:
        return None
    history = chance.choice(plain)
    del history["format"]
    history["partitions"] = draft.partitions
    if chance.random() < 0.5:
        chance.choice([one for one in inputs if one is not history])["after"] = history["name"]
    return history


_OF_RECORDS: Final = frozenset({"metadata", "strict", "registry"})


def _system(draft: AppDraft, path: str) -> Part:
    return registry_generator.SYSTEM if draft.has_registry else {"embedded": {"path": path}}


def _hashed_by(partitioner: str) -> Part:
    """The field of a stream, where it is another hash than Java's."""
    return {} if partitioner == "murmur2" else {"partitioner": partitioner}


def _is_unread(draft: AppDraft, flow: Flow) -> bool:
    read: set[str] = set()
    for operator in draft.operators:
        (body,) = (value for key, value in operator.items() if key != "name")
        source = body["from"]
        read |= {source} if isinstance(source, str) else set(source)
    return flow.name not in read


def _add_input(draft: AppDraft, name: str) -> Flow:
    """An input with a number for each row, a key, perhaps event times, and some columns."""
    chance = draft.chance
    twin = draft.pick(lambda flow: flow.name.startswith("in") and flow.hops == 0)
    timed, partitioner = chance.random() < 0.75, chance.choice(("murmur2", "murmur2", "crc32"))
    if twin is not None and chance.random() < 0.5:
        (declared,) = (stream for stream in draft.streams if stream["name"] == twin.name)
        columns, timed, partitioner = columns_of(declared), twin.timed, twin.partitioner
    else:
        columns = {"id": "BIGINT", KEY_COLUMN: draft.key_type}
        columns["ts"] = "BIGINT" if timed and chance.random() < 0.2 else "TIMESTAMP"
        for number in range(chance.randint(1, 4)):
            columns[f"{'abcde'[number]}"] = chance.choice(tuple(ARROW))
    keyed = chance.random() < 0.85
    stream: Part = {
        "name": name,
        "system": "main",
        **_format(draft, name, columns),
        **_hashed_by(partitioner),
        "columns": ", ".join(f"{column} {kind}" for column, kind in columns.items()),
    }
    if keyed:
        stream["key"] = KEY_COLUMN
    if timed:
        stream["eventTime"] = {"column": "ts", "delay": chance.choice(("0s", "1s", "5s"))}
        if columns["ts"] == "BIGINT":
            stream["eventTime"]["unit"] = chance.choice(("seconds", "milliseconds"))
    if chance.random() < 0.2:
        stream["keys"] = "unchecked"
    if chance.random() < 0.2:
        stream["topic"] = f"topic-of-{name}"
    of_records = [] if twin else chance.sample(tuple(METADATA), chance.choice((0, 0, 0, 1, 2)))
    if of_records:
        stream["metadata"] = {field: f"r_{field}" for field in METADATA if field in of_records}
        if "key" in of_records and chance.random() < 0.5:
            stream["metadata"]["keyFormat"] = "string"
    draft.streams.append(stream)
    key = KEY_COLUMN if keyed else None
    every = columns | metadata_columns(stream)
    flow = Flow(name, every, key, key, timed, frozenset((name,)), partitioner=partitioner)
    draft.flows.append(flow)
    return flow


def _format(draft: AppDraft, stream: str, columns: dict[str, str]) -> Part:
    """A format that can have these columns, and its options."""
    chance = draft.chance
    if draft.has_registry and chance.random() < 0.6:
        return registry_generator.input_form(draft, stream, columns)
    formats = ["json", "json", "columns"]
    if columns.get(KEY_COLUMN) != "STRING":  # Debezium's keys in quotes are texts of JSON
        formats.append("debezium")
    if not any("<" in kind for kind in columns.values()):
        formats.append("csv")
    formats.append("avro")
    form: Part = {"format": chance.choice(formats)}
    if form["format"] == "debezium":
        form |= {"timestamps": "microseconds", "decimals": chance.choice(("text", "base64"))}
        if chance.random() < 0.3:
            form["flattened"] = True
    if form["format"] == "csv":
        form |= _csv_signs(chance)
    if form["format"] == "json" and chance.random() < 0.2:
        form["strict"] = True
    return form


def _csv_signs(chance: random.Random) -> Part:
    """Signs of CSV, the usual ones in most cases."""
    return chance.choice(({}, {}, {"csv": {"delimiter": "|", "quote": "'", "nullText": "-"}}))


def _only_column(draft: AppDraft, flow: Flow) -> Flow:
    """One text or binary column of the rows, where they have one."""
    columns = [column for column, kind in flow.columns.items() if kind in WHOLE_VALUES]
    if not columns:
        return flow
    column = draft.chance.choice(columns)
    only = replace(flow, name=draft.name("map"), columns={column: flow.columns[column]})
    draft.add("map", {"from": flow.name, "select": column}, only)
    return only


def _add_output(draft: AppDraft, flow: Flow) -> None:
    partitioner = draft.chance.choice(("murmur2", "crc32"))
    if draft.chance.random() < 0.1:
        flow = _only_column(draft, flow)
    stream: Part = {"name": f"out-{flow.name}", "system": "main", **_hashed_by(partitioner)}
    (column, kind), *others = flow.columns.items()
    if not others and kind in WHOLE_VALUES:
        stream |= {"format": WHOLE_VALUES[kind], "columns": f"{column} {kind}"}
    elif draft.has_registry and draft.chance.random() < 0.6:
        stream |= registry_generator.output_form(draft, stream["name"], flow.columns)
    elif draft.chance.random() < 0.4:
        stream["format"] = draft.chance.choice(("columns", "avro"))
    elif draft.chance.random() < 0.3 and not any("<" in kind for kind in flow.columns.values()):
        stream |= {"format": "csv", **_csv_signs(draft.chance)}
    keys = [column for column, kind in flow.columns.items() if kind in KEY_TYPES]
    if flow.settled and keys and draft.chance.random() < 0.5:
        stream["key"] = draft.chance.choice(keys)
        if draft.has_registry and stream["key"] == flow.key and len(flow.columns) > 1:
            stream["metadata"] = registry_generator.output_key_form(draft, stream, flow.columns[flow.key])
    times = [column for column, kind in flow.columns.items() if kind == "TIMESTAMP"]
    time = draft.chance.choice(times) if times and flow.settled and draft.chance.random() < 0.2 else None
    held = [column for column, kind in flow.columns.items() if kind in HEADER_TYPES]
    headers = draft.chance.choice(held) if held and flow.settled and draft.chance.random() < 0.7 else None
    draft.streams.append(stream)
    body = {"from": flow.name, "stream": stream["name"], "timestamp": time, "headers": headers}
    draft.add("sendTo", body, None)


def _add_filter(draft: AppDraft) -> None:
    if flow := draft.pick(lambda flow: flow.settled):
        where = expression_pool.condition(draft.chance, flow.columns)
        draft.add("filter", {"from": flow.name, "where": where}, replace(flow, name=draft.name("filter")))


def _add_map(draft: AppDraft) -> None:
    flow = draft.pick()
    if flow is None:
        return
    chance, columns = draft.chance, {}
    entries = []
    kept_columns = [c for c in flow.columns if c in {"id", flow.key, flow.placed_by} or chance.random() < 0.7]
    for column in kept_columns:
        columns[column] = flow.columns[column]
        entries.append(column)
    for number in range(chance.randint(0, 2)):
        if made := expression_pool.value(chance, flow.columns):
            name = f"m{len(draft.operators)}x{number}"
            columns[name] = made[1]
            entries.append(f"{made[0]} AS {name}")
    if not entries:
        return
    key, placed_by = flow.key, flow.placed_by
    body: Part = {"from": flow.name, "select": ", ".join(entries)}
    keys = [column for column, kind in columns.items() if kind in KEY_TYPES]
    if keys and flow.settled and chance.random() < 0.2:
        body["key"] = key = chance.choice(keys)
        placed_by = placed_by if key == placed_by else None
    new = replace(flow, name=draft.name("map"), columns=columns, key=key, placed_by=placed_by)
    draft.add("map", body, new)


def _add_merge(draft: AppDraft) -> None:
    first = draft.pick(lambda flow: flow.settled)
    if first is None:
        return
    alike = [
        flow
        for flow in draft.flows
        if flow.name != first.name
        and flow.settled
        and dict(flow.columns) == dict(first.columns)
        and (flow.key, flow.placed_by, flow.hops) == (first.key, first.placed_by, first.hops)
        and (flow.copies, flow.partitioner) == (first.copies, first.partitioner)
    ]
    if not alike:
        return
    other = draft.chance.choice(alike)
    timed = first.timed or other.timed
    sources = first.sources | other.sources
    merged = replace(first, name=draft.name("merge"), timed=timed, sources=sources, ordered=False)
    draft.add("merge", {"from": [first.name, other.name]}, merged)


def _add_partition_by(draft: AppDraft) -> None:
    flow = draft.pick(lambda flow: flow.settled and not flow.copies and flow.hops < 2)
    if flow is None:
        return
    keys = [column for column, kind in flow.columns.items() if kind in KEY_TYPES]
    if keys:
        key = draft.chance.choice(keys)
        body = {"from": flow.name, "key": key, "partitions": draft.partitions}
        if draft.chance.random() < 0.2:
            body["retention"] = "1h"
        moved = replace(flow, name=draft.name("partitionBy"), key=key, placed_by=key, hops=flow.hops + 1)
        moved = replace(moved, ordered=flow.ordered and draft.partitions == 1, partitioner="murmur2")
        draft.add("partitionBy", body, moved)


def _add_broadcast(draft: AppDraft) -> None:
    flow = draft.pick(lambda flow: flow.settled and not flow.copies and flow.hops < 2)
    if flow is not None and draft.chance.random() < 0.5:
        name = draft.name("broadcast")
        copied = replace(flow, name=name, placed_by=None, hops=flow.hops + 1, copies=True)
        draft.add("broadcast", {"from": flow.name}, copied)


def _add_aggregate(draft: AppDraft) -> None:
    flow = draft.pick(lambda flow: flow.settled and flow.placed_by is not None and not flow.copies)
    if flow is None or flow.placed_by is None:
        return
    chance = draft.chance
    fresh = {name: kind for name, kind in flow.columns.items() if name != "id"}
    totals = expression_pool.totals(chance, fresh)
    totals = {f"{draft.name('t')}_{name}": total for name, total in totals.items()}
    body: Part = {
        "from": flow.name,
        "aggregates": ", ".join(f"{text} AS {name}" for name, (text, _) in totals.items()),
    }
    groups = [flow.placed_by]
    further = [c for c, kind in flow.columns.items() if kind in KEY_TYPES and c not in groups]
    if flow.key == flow.placed_by and chance.random() < 0.5:
        pass
    else:
        groups += chance.sample(further, min(len(further), chance.choice((0, 0, 1))))
        chance.shuffle(groups)
        body["key"] = ", ".join(groups)
    columns = {column: flow.columns[column] for column in groups}
    settled = draft.whole_sends and flow.ordered  # the time of a total is that of the last record
    if (flow.timed or draft.is_batch) and chance.random() < 0.7:
        body["window"] = _window(draft)
        columns |= {"window_start": "TIMESTAMP", "window_end": "TIMESTAMP"}
        lateness = chance.choice((None, None, "0s", "2s", "1m"))
        body["allowedLateness"] = lateness
        body["emit"] = chance.choice((None, None, "onWatermark", "onUpdate"))
        if "session" in body["window"] and not draft.whole_sends:
            body["emit"] = None  # which sessions go out before they have grown depends on batches
        settled = draft.whole_sends or body["emit"] != "onUpdate"
    columns |= {name: kind for name, (_, kind) in totals.items()}
    key = groups[0] if len(groups) == 1 else None
    totalled = replace(flow, name=draft.name("aggregate"), columns=columns, key=key, settled=settled)
    draft.add("aggregate", body, replace(totalled, ordered=False))


def _window(draft: AppDraft) -> Part:
    kind = draft.chance.choice(("tumbling", "hopping", "session"))
    if kind == "session":
        return {"session": {"gap": draft.draw_span()}}
    if kind == "tumbling":
        return {"tumbling": {"size": draft.draw_span()}}
    size, advance = draft.chance.choice((("4s", "1s"), ("5s", "2s"), ("10s", "10s"), ("1m", "25s")))
    return {"hopping": {"size": size, "advance": advance}}


def _add_join(draft: AppDraft) -> None:
    chance = draft.chance

    def joinable(flow: Flow) -> bool:
        return flow.settled and flow.placed_by is not None and flow.key == flow.placed_by and not flow.copies

    left = draft.pick(joinable)
    right = draft.pick(
        lambda flow: (
            joinable(flow)
            and left is not None
            and flow.name != left.name
            and flow.columns[flow.key or ""] == left.columns[left.key or ""]
            and flow.hops == left.hops
            and flow.partitioner == left.partitioner
        )
    )
    by_arrival = chance.random() < 0.25
    if left is None or right is None or not (by_arrival or (left.timed and right.timed)):
        return
    name = draft.name("join")
    kind = chance.choice(("inner", "inner", "left", "right", "full"))
    columns, entries = {}, []
    for side, flow in (("left", left), ("right", right)):
        for column, type_text in flow.columns.items():
            if chance.random() < 0.6 or column in {"id", flow.key}:
                made = f"{side[0]}_{column}" if column != left.key or side == "right" else column
                if made not in columns:
                    columns[made] = type_text
                    entries.append(f"{side}.{column} AS {made}")
    body: Part = {
        "from": [left.name, right.name],
        "within": chance.choice(("2h", "30d", "1000d")) if by_arrival else draft.draw_span(),
        "time": "arrival" if by_arrival else None,
        "type": kind,
        "select": ", ".join(entries),
    }
    if kind == "inner" and chance.random() < 0.3:
        text = expression_pool.condition(chance, {f"left.{c}": kind for c, kind in left.columns.items()})
        body["where"] = text
    key = left.key if left.key in columns else None
    timed, sources = left.timed or right.timed, left.sources | right.sources
    joined = replace(left, name=name, columns=columns, key=key, placed_by=key, timed=timed, sources=sources)
    draft.add("join", body, replace(joined, settled=kind == "inner", ordered=False))


def _add_table(draft: AppDraft, flow: Flow, *, broadcast: bool) -> str | None:
    """A table that `flow` may be joined with, filled by an input of its own."""
    chance = draft.chance
    name, source = f"table{len(draft.tables)}", f"side{len(draft.tables)}"
    columns = {KEY_COLUMN: draft.key_type}
    columns |= {f"v{len(draft.tables)}{n}": chance.choice(tuple(ARROW)) for n in range(chance.randint(1, 2))}
    listed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    side: Part = {"stream": source, "bootstrap": True if draft.is_batch else chance.random() < 0.3}
    side["value"] = ", ".join(f"{column} AS tk" if column == KEY_COLUMN else column for column in columns)
    table: Part = {"name": name, "sideInputs": [side]}
    if broadcast:
        table["broadcast"] = True
    table["store"] = chance.choice(("rocksdb", "lmdb", "memory"))
    side["bootstrap"] |= table["store"] == "memory"  # else it begins empty after each start
    if not side["bootstrap"] or chance.random() < 0.3:
        table["maxStoreAge"] = "3650d"  # else a clock that jumps leaves a table empty that nothing waits for
    if chance.random() < 0.3:
        side["versions"] = "nullKey"
    if side["bootstrap"] and draft.whole_sends and draft.partitions > 1:
        return None  # some tasks would wait for it and others not: a batch would not take a send whole
    form = _format(draft, source, columns)
    form |= _hashed_by(chance.choice(("murmur2", "crc32")) if broadcast else flow.partitioner)
    draft.streams.append({"name": source, "system": "main", "key": KEY_COLUMN, "columns": listed, **form})
    if (table["store"] != "memory" or not broadcast) and "versions" not in side:
        table["visibility"] = chance.choice(("nextBatch", "nextBatch", "sameBatch"))
    keys = [column for column, kind in columns.items() if kind in KEY_TYPES and kind in flow.columns.values()]
    if broadcast and chance.random() < 0.4:
        side["key"] = chance.choice(keys)
    elif chance.random() < 0.3:
        del side["value"]
        side["python"] = own_code_generator.FILL_TABLE
        table["columns"] = listed.replace(f"{KEY_COLUMN} ", "tk ", 1)
    draft.tables.append(table)
    return name


def _add_join_filled_table(draft: AppDraft) -> None:
    """A look-up in a table that the app fills from other inputs: a step writes only one of them."""
    flow = draft.pick(lambda flow: flow.settled and flow.placed_by is not None and flow.key == flow.placed_by)
    if flow is None or flow.copies or draft.is_batch:
        return
    for name, filling in draft.filled.items():
        has_key = filling.columns[filling.key or ""] == flow.columns[flow.key or ""]
        meets = has_key and filling.partitioner == flow.partitioner
        if meets and not filling.sources & flow.sources:
            made = {f"{name}_{column}": column for column in filling.columns}
            entries = [*flow.columns, *(f"{name}.{column} AS {new}" for new, column in made.items())]
            body = {"from": flow.name, "table": name, "select": ", ".join(entries)}
            body["type"] = draft.chance.choice(("inner", "left"))
            columns = {**flow.columns, **{new: filling.columns[column] for new, column in made.items()}}
            draft.add("joinTable", body, replace(flow, name=draft.name("joinTable"), columns=columns))
            return


def _add_join_table(draft: AppDraft) -> None:
    chance = draft.chance
    broadcast = chance.random() < 0.3
    flow = draft.pick(
        lambda flow: (
            flow.settled
            and (broadcast or (flow.placed_by is not None and flow.key == flow.placed_by and not flow.copies))
            and any(kind == draft.key_type for kind in flow.columns.values())
            and (broadcast or flow.columns[flow.key or ""] == draft.key_type)
        )
    )
    if flow is None or any(column in {"tk", "v00", "v01", "v10", "v11"} for column in flow.columns):
        return
    table = _add_table(draft, flow, broadcast=broadcast)
    if table is None:
        return
    columns = dict(flow.columns)
    (declared,) = (one for one in draft.tables if one["name"] == table)
    (stream,) = (one for one in draft.streams if one["name"] == declared["sideInputs"][0]["stream"])
    held = columns_of(stream)
    held = {("tk" if name == KEY_COLUMN else name): kind for name, kind in held.items()}
    body: Part = {"from": flow.name, "table": table, "type": chance.choice(("inner", "left"))}
    if chance.random() < 0.2:
        body["select"] = ", ".join([*flow.columns, *(f"{table}.{name} AS {table}_{name}" for name in held)])
        held = {f"{table}_{name}": kind for name, kind in held.items()}
    columns |= held
    if broadcast:
        kind_of_key = columns_of(stream)[declared["sideInputs"][0].get("key", KEY_COLUMN)]
        body["key"] = chance.choice([c for c, kind in flow.columns.items() if kind == kind_of_key])
    draft.add("joinTable", body, replace(flow, name=draft.name("joinTable"), columns=columns))


def _add_send_to_table(draft: AppDraft) -> None:
    """A table filled by the app, whether something reads it or not: its rows are compared at the end."""
    flow = draft.pick(lambda flow: flow.is_sequence_by_key)
    if flow is None:
        return
    chance, name = draft.chance, f"table{len(draft.tables)}"
    listed = ", ".join(f"{column} {kind}" for column, kind in flow.columns.items())
    draft.tables.append(
        {"name": name, "columns": listed, "store": chance.choice(("rocksdb", "lmdb", "memory"))}
    )
    delete = expression_pool.condition(chance, flow.columns) if chance.random() < 0.3 else None
    draft.add("sendToTable", {"from": flow.name, "table": name, "deleteWhere": delete}, None)
    draft.filled[name] = flow


GENERATED: Final[Mapping[str, Callable[[AppDraft], None]]] = {
    "filter": _add_filter,
    "map": _add_map,
    "merge": _add_merge,
    "partitionBy": _add_partition_by,
    "broadcast": _add_broadcast,
    "aggregate": _add_aggregate,
    "join": _add_join,
    "joinTable": _add_join_table,
    "joinFilledTable": _add_join_filled_table,
    "joinRemoteTable": own_code_generator.add_join_remote_table,
    "mapByPython": own_code_generator.add_map_by_python,
    "flatMap": own_code_generator.add_flat_map,
    "process": own_code_generator.add_process,
    "sendToTable": _add_send_to_table,
}
"""What adds an operator of a kind, where there is a flow that it fits; Python is a kind of its own here."""
OFTEN: Final = ("aggregate", "join", "join", "joinTable")
"""Kinds that have most rules, and those that often find no rows which they fit."""
