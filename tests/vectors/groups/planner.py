"""Judges planner.json: builds the graph that a vector describes, plans it and compares."""

from collections.abc import Iterable, Iterator, Mapping

from streamapp.graph.nodes import Graph, OperatorNode, StreamNode, TableNode
from streamapp.plan.partition_plan import Mode, Plan, Role
from streamapp.plan.planner import plan
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.operator_kinds import OperatorKind
from tests.vectors.fields import Fields
from tests.vectors.wording import unnamed

RECIPES = ("tests/streamapp/plan/test_plan_properties.py", "tests/streamapp/graph/test_graph_cycles.py")
_KINDS = {
    "input": OperatorKind.INPUT,
    "map": OperatorKind.MAP,
    "filter": OperatorKind.FILTER,
    "flat_map": OperatorKind.FLAT_MAP,
    "merge": OperatorKind.MERGE,
    "partition_by": OperatorKind.PARTITION_BY,
    "broadcast": OperatorKind.BROADCAST,
    "join": OperatorKind.JOIN,
    "join_table": OperatorKind.JOIN_TABLE,
    "send_to_table": OperatorKind.SEND_TO_TABLE,
    "send_to": OperatorKind.SEND_TO,
}
_CLASSES = {
    "inputs": (Role.INPUT, Role.INPUT_OUTPUT),
    "outputs": (Role.OUTPUT, Role.INPUT_OUTPUT),
    "intermediate": (Role.INTERMEDIATE,),
    "side_inputs": (Role.SIDE_INPUT,),
}


_A_CONFLICT = (
    "at least one of the conflicting joins/tables and two streams of conflict_component with differing counts"
)
_EXPECTATIONS = (
    *("outcome", "intermediate", "join_groups", "before_inference", "broadcast_inputs", "classification"),
    *("error", "message_must_name", "conflict_component"),
)
_STREAM_KINDS = {"input", "output", "side_input"}


def run(vector: Fields) -> list[str]:
    unknown = [
        f"no stream is of the kind {stream['kind']}"
        for stream in vector["streams"].values()
        if stream.get("kind", "input") not in _STREAM_KINDS
    ]
    config = {key: str(value) for key, value in vector.get("config", {}).items()}
    found = plan(graph_of(vector), config=config, mode=Mode(vector.get("mode", "stream")))
    return [*unknown, *_differences(vector["expect"], found)]


def graph_of(vector: Fields) -> Graph:
    """The vector's graph. `streams` is what the systems know: one that is only named has no known count."""
    streams = {
        name: StreamNode(name, known.get("system") or "", known["partitions"], bool(known.get("broadcast")))
        for name, known in vector["streams"].items()
    }
    tables = {
        name: TableNode(
            name,
            remote={"local": False, "remote": True}[table["kind"]],
            broadcast=bool(table.get("broadcast")),
            side_inputs=_names(table.get("side_inputs")),
        )
        for name, table in vector.get("tables", {}).items()
    }
    operators = {entry["id"]: _operator(entry) for entry in vector["graph"]}
    made = {operator.stream for operator in operators.values() if operator.cuts}
    named = [operator.stream for operator in operators.values() if operator.stream is not None]
    for name in (*named, *(side for table in tables.values() for side in table.side_inputs)):
        if name not in made:
            streams.setdefault(name, StreamNode(name))
    return Graph(operators, streams, tables)


def _operator(entry: Fields) -> OperatorNode:
    return OperatorNode(
        entry["id"],
        _KINDS[entry["op"]],
        inputs=_names(entry.get("in")),
        stream=entry.get("stream"),
        tables=_names(entry.get("table")),
        partitions=entry.get("partitions"),
    )


def _names(value: str | Iterable[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _differences(expect: Fields, found: Plan) -> Iterator[str]:
    if expect.get("alternative") == found.outcome:
        expect.excuse(*_EXPECTATIONS)  # which are of the other answer
        return
    if "outcome" in expect and expect["outcome"] != found.outcome:
        yield f"{found.outcome}, not {expect['outcome']}: {[error.message for error in found.errors]}"
        return
    counts = {name: stream.partitions for name, stream in found.streams.items()}
    made = found.classification()[Role.INTERMEDIATE]
    if "intermediate" in expect:
        yield from _differ("intermediate", expect["intermediate"], {name: counts[name] for name in made})
    if "join_groups" in expect:
        groups = {join.operator: join.streams for join in found.joins}
        yield from _differ("join_groups", _agreeing(expect["join_groups"]), _agreeing(groups))
    if "before_inference" in expect:
        before = found.before_inference()
        known = {name: before.get(name) for name in expect["before_inference"]}
        yield from _differ("before_inference", expect["before_inference"], known)
    if "broadcast_inputs" in expect:
        yield from _differ("broadcast_inputs", expect["broadcast_inputs"], found.broadcast_inputs)
    for title, names in expect.get("classification", {}).items():
        of_role = [name for role in _CLASSES[title] for name in found.classification()[role]]
        yield from _differ(f"classification.{title}", sorted(names), sorted(of_role))
    if "error" in expect:
        yield from _error_differences(expect, found)


def _agreeing(groups: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Groups in which anything has to agree: those of two streams or more."""
    of = {join: sorted(set(streams)) for join, streams in groups.items()}
    return {join: streams for join, streams in of.items() if len(streams) > 1}


def _error_differences(expect: Fields, found: Plan) -> Iterator[str]:
    reason = Reason[expect["error"]]
    errors = [error for error in found.errors if error.reason is reason]
    if not errors:
        yield f"no {reason} among {[(error.reason, error.message) for error in found.errors]}"
        return
    text = " ".join(error.message for error in errors)
    names = expect.get("message_must_name", ())
    if names != _A_CONFLICT:
        known = {*found.streams, *(error.operator for error in errors if error.operator)}
        yield from unnamed(names, text, known)
    elif "conflict_component" not in expect:
        yield "there is no conflict_component of which a message could name streams"
    if "conflict_component" in expect:
        conflict = set(expect["conflict_component"])
        if not any(
            error.operator is not None
            and error.operator in error.message
            and len({count for name, count in error.streams if name in conflict and name in error.message})
            > 1
            for error in errors
        ):
            yield f"no message names an operator and two differing streams of {sorted(conflict)}: {text}"


def _differ(field: str, expected: object, actual: object) -> Iterator[str]:
    if expected != actual:
        yield f"{field} is {actual}, not {expected}"
