"""Operators and tables of random apps that are Python."""

from dataclasses import replace
from typing import Final

from tests.oracle.cases.app_draft import AppDraft, Flow, Part
from tests.oracle.cases.column_values import KEY_TYPES
from tests.oracle.cases.own_code import MODULE

COUNT_NULLS: Final = f"{MODULE}:count_nulls"
REPEAT_ROWS: Final = f"{MODULE}:repeat_rows"
FILL_TABLE: Final = f"{MODULE}:fill_table"
NUMBERED: Final = f"{MODULE}:Numbered"
RATES: Final = f"{MODULE}:Rates"


def _some_columns(draft: AppDraft, flow: Flow, added: str) -> dict[str, str] | None:
    """Columns that a function gives on, with one of its own; None where that one is there already."""
    if added in flow.columns:
        return None
    kept = {name: kind for name, kind in flow.columns.items() if name == "id" or draft.chance.random() < 0.7}
    return {**kept, added: "BIGINT"}


def _after_python(draft: AppDraft, flow: Flow, kind: str, columns: dict[str, str], body: Part) -> Flow:
    """The rows that Python gives: nobody knows what became of their key, unless they get another."""
    keys = [column for column, of in columns.items() if of in KEY_TYPES]
    body["key"] = draft.chance.choice(keys) if keys and draft.chance.random() < 0.4 else None
    return replace(flow, name=draft.name(kind), columns=columns, key=body["key"], placed_by=None)


def _listed(columns: dict[str, str]) -> str:
    return ", ".join(f"{column} {kind}" for column, kind in columns.items())


def add_map_by_python(draft: AppDraft) -> None:
    """A `map` that counts the nulls of each row."""
    flow = draft.pick(lambda flow: flow.settled)
    if flow is not None and (columns := _some_columns(draft, flow, "nulls")):
        body: Part = {"from": flow.name, "python": COUNT_NULLS, "columns": _listed(columns)}
        draft.add("map", body, _after_python(draft, flow, "map", columns, body))


def add_flat_map(draft: AppDraft) -> None:
    """A `flatMap` that gives each row several times, or not at all."""
    flow = draft.pick(lambda flow: flow.settled and flow.columns.get("id") == "BIGINT")
    if flow is not None and (columns := _some_columns(draft, flow, "copy")):
        body: Part = {"from": flow.name, "python": REPEAT_ROWS, "columns": _listed(columns)}
        draft.add("flatMap", body, _after_python(draft, flow, "flatMap", columns, body))


def add_process(draft: AppDraft) -> None:
    """A class that numbers the rows of each key, in state of its own or in a table."""
    flow = draft.pick(lambda flow: flow.is_sequence_by_key)
    if flow is None or not (columns := _some_columns(draft, flow, "seen")):
        return
    body: Part = {"from": flow.name, "python": NUMBERED, "columns": _listed(columns)}
    if draft.chance.random() < 0.5:
        name = f"table{len(draft.tables)}"
        store = draft.chance.choice(("rocksdb", "lmdb", "memory"))
        draft.tables.append({"name": name, "columns": "seen BIGINT", "store": store})
        body["tables"] = [name]
    draft.add("process", body, _after_python(draft, flow, "process", columns, body))


def add_join_remote_table(draft: AppDraft) -> None:
    """A look-up of a column, or of the rows' key, in a remote table."""
    flow = draft.pick(lambda flow: flow.settled and "rate" not in flow.columns)
    keys = [column for column, kind in flow.columns.items() if kind in KEY_TYPES] if flow else []
    if flow is None or not keys:
        return
    chance, name = draft.chance, f"table{len(draft.tables)}"
    remote: Part = {"python": RATES}
    if chance.random() < 0.5:
        remote["cache"] = {"size": chance.choice((1, 3, 1000)), "ttl": chance.choice(("1s", "1h"))}
    remote["retry"] = {"attempts": chance.choice((1, 3)), "backoff": "10ms"}
    remote["onUnavailable"] = chance.choice(("wait", "fail", "asMissing"))
    draft.tables.append({"name": name, "columns": "rate BIGINT", "remote": remote})
    body: Part = {"from": flow.name, "table": name, "type": chance.choice(("inner", "left"))}
    by_row_key = flow.key is not None and flow.key == flow.placed_by and chance.random() < 0.3
    body["key"] = None if by_row_key else chance.choice(keys)
    columns = {**flow.columns, "rate": "BIGINT"}
    draft.add("joinTable", body, replace(flow, name=draft.name("joinTable"), columns=columns))
