"""Edits of random apps: what an operator says, or is, from some moment on."""

from collections.abc import Callable
from typing import Final

from tests.oracle.cases import expression_pool
from tests.oracle.cases.app_draft import AppDraft
from tests.oracle.cases.case import Edit
from tests.oracle.cases.resource_reading import columns_of, kind_of, sources_of, split_list

STATELESS: Final = frozenset({"filter", "map", "merge", "flatMap", "sendTo"})


def random_edits(draft: AppDraft) -> list[Edit]:
    """Edits that keep the state, each at some moment; what they add is declared from the beginning."""
    chance = draft.chance
    if draft.is_batch or chance.random() > 0.3:
        return []
    edits = [edit for _ in range(chance.randint(1, 2)) if (edit := _changed_rows(draft))]
    structural: Callable[[AppDraft], Edit | None] = chance.choice((_new_output, _new_table, _no_output))
    if chance.random() < 0.6 and (edit := structural(draft)):
        edits.append(edit)
    return edits


def _changed_rows(draft: AppDraft) -> Edit | None:
    """Another condition, or other expressions for the columns that there are."""
    chance, flow_columns = draft.chance, {flow.name: flow.columns for flow in draft.flows}
    found = [one for one in draft.operators if "filter" in one or "select" in one.get("map", ())]
    if not found:
        return None
    operator = chance.choice(found)
    kind, body = kind_of(operator)
    columns = flow_columns[body["from"]]
    if kind == "filter":
        return Edit(operator["name"], kind, {**body, "where": expression_pool.condition(chance, columns)})
    entries, made = split_list(body["select"]), flow_columns[operator["name"]]
    for place, entry in enumerate(entries):
        expression, _, name = entry.rpartition(" AS ")
        drawn = [expression_pool.value(chance, columns) for _ in range(5)] if expression else []
        texts = [value[0] for value in drawn if value and value[1] == made[name]]
        entries[place] = f"{texts[0]} AS {name}" if texts else entry
    return Edit(operator["name"], kind, {**body, "select": ", ".join(entries)})


def _new_output(draft: AppDraft) -> Edit:
    """One more output, of rows that there are."""
    source = draft.chance.choice(draft.flows).name
    draft.streams.append({"name": "out-later", "system": "main"})
    return Edit("later", "sendTo", {"from": source, "stream": "out-later"})


def _new_table(draft: AppDraft) -> Edit | None:
    """A table that is filled from then on, with rows behind a repartition: no record gets bad by it."""
    flow = draft.pick(
        lambda flow: (
            flow.settled
            and flow.hops > 0
            and flow.key is not None
            and flow.key == flow.placed_by
            and not flow.copies
            and flow.ordered
        )
    )
    if flow is None:
        return None
    name = f"table{len(draft.tables)}"
    listed = ", ".join(f"{column} {kind}" for column, kind in flow.columns.items())
    draft.tables.append({"name": name, "columns": listed})
    return Edit("later", "sendToTable", {"from": flow.name, "table": name})


def _no_output(draft: AppDraft) -> Edit | None:
    """One output less, where what it reads has no state that nobody would keep up then."""
    bodies = {operator["name"]: kind_of(operator) for operator in draft.operators}

    def is_stateless(name: str) -> bool:
        if name not in bodies:
            return True
        kind, body = bodies[name]
        return kind in STATELESS and all(map(is_stateless, sources_of(body)))

    # An operator before it goes on reading: an app that reads nothing, or not one of its inputs, is refused.
    outputs = [
        name
        for name, (kind, body) in bodies.items()
        if kind == "sendTo" and body["from"] in bodies and is_stateless(name)
    ]
    if not outputs:
        return None
    output = draft.chance.choice(outputs)
    body = bodies[output][1]
    (stream,) = (one for one in draft.streams if one["name"] == body["stream"])
    (flow,) = (flow for flow in draft.flows if flow.name == body["from"])
    # No operator says its columns any more, and its records are read at the end.
    of_keys = stream.get("metadata", {})
    in_keys = columns_of(of_keys, "keyColumns") if "keyColumns" in of_keys else ()
    stream["columns"] = ", ".join(
        f"{column} {kind}" for column, kind in flow.columns.items() if column not in in_keys
    )
    return Edit(output, "sendTo", None)
