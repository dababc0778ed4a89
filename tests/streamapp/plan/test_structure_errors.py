from dataclasses import replace

import pytest

from streamapp.graph.nodes import Graph, OperatorNode, StreamNode, TableNode
from streamapp.plan.partition_plan import PlanOutcome
from streamapp.plan.planner import plan
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.operator_kinds import OperatorKind
from tests.harness.graphs.graph_drawing import (
    broadcast,
    drawn,
    fill,
    join,
    join_table,
    maps,
    merge,
    process,
    reads,
    repartition,
    sends,
)

USERS = TableNode("users")


def refusals(graph: Graph) -> list[tuple[str | None, str]]:
    errors = plan(graph).errors
    assert {error.reason for error in errors} == {Reason.INVALID_GRAPH}
    assert all(error.hint for error in errors)
    return [(error.operator, error.message) for error in errors]


def test_a_name_that_leads_nowhere_is_refused_whatever_it_names() -> None:
    graph = drawn(
        reads("a"),
        sends("s", "a", "out"),
        maps("m", "nobody"),
        join_table("j", "a", "nothing"),
        tables=(replace(USERS, side_inputs=("lost",)),),
    )
    assert refusals(replace(graph, streams={"a": graph.streams["a"]})) == [
        ("j", "joinTable j names table nothing, and there is no such table"),
        ("m", "map m reads nobody, and there is no such operator"),
        ("s", "sendTo s names stream out, and there is no such stream"),
        (None, "table users is filled from lost, and there is no such stream"),
    ]


def test_a_join_needs_two_inputs() -> None:
    assert refusals(drawn(reads("a"), join("j", "a"))) == [("j", "join j has only one input")]


@pytest.mark.parametrize(
    "kind", [kind for kind in OperatorKind if kind not in {OperatorKind.INPUT, OperatorKind.PARTITION_BY}]
)
def test_an_operator_needs_something_to_read(kind: OperatorKind) -> None:
    graph = drawn(reads("a"), OperatorNode("o", kind, (), "made", ("users",)), tables=(USERS,))
    assert refusals(graph) == [("o", f"{kind} o has no input")]


def test_a_partition_by_of_nothing_is_refused_and_its_stream_has_no_count() -> None:
    assert [error.reason for error in plan(drawn(repartition("p"))).errors] == [
        Reason.INVALID_GRAPH,
        Reason.UNRESOLVED_PARTITIONS,
    ]


@pytest.mark.parametrize(
    "kind", [OperatorKind.INPUT, OperatorKind.PARTITION_BY, OperatorKind.BROADCAST, OperatorKind.SEND_TO]
)
def test_an_operator_that_is_about_a_stream_names_it(kind: OperatorKind) -> None:
    assert refusals(drawn(reads("a"), OperatorNode("o", kind, ("a",)))) == [
        ("o", f"{kind} o names no stream")
    ]


@pytest.mark.parametrize("kind", [OperatorKind.JOIN_TABLE, OperatorKind.SEND_TO_TABLE])
def test_an_operator_that_is_about_a_table_names_it(kind: OperatorKind) -> None:
    assert refusals(drawn(reads("a"), OperatorNode("o", kind, ("a",)))) == [("o", f"{kind} o names no table")]


def test_a_table_with_side_inputs_is_not_written_to() -> None:
    graph = drawn(reads("a"), fill("w", "a", "users"), tables=(replace(USERS, side_inputs=("s",)),))
    assert refusals(graph) == [("w", "sendToTable w writes to table users, which is filled from s")]


def test_a_broadcast_table_is_not_written_to() -> None:
    graph = drawn(reads("a"), fill("w", "a", "users"), tables=(replace(USERS, broadcast=True),))
    assert [operator for operator, _ in refusals(graph)] == ["w"]


def test_a_process_may_look_at_a_table_with_side_inputs() -> None:
    graph = drawn(reads("a"), process("p", "a", "users"), tables=(replace(USERS, side_inputs=("s",)),))
    assert plan(graph).outcome is PlanOutcome.ACCEPTED


def test_a_stream_is_not_both_split_and_whole() -> None:
    graph = drawn(reads("a"), broadcast("w", "a"), repartition("x", "a", stream="w'"))
    assert refusals(graph) == [("x", "partitionBy x makes stream w', which a broadcast makes too")]


def test_a_join_with_a_table_that_is_not_there_has_hints_for_the_others() -> None:
    """A hint was looked for in a table that no declaration has."""
    operators = {"j": OperatorNode("j", OperatorKind.JOIN, tables=("t", "nowhere"))}
    streams = {name: StreamNode(name, partitions=count) for name, count in (("x", 1), ("y", 2))}
    graph = Graph(operators, streams, {"t": TableNode("t", side_inputs=("x", "y"))})
    messages = [error.message for error in plan(graph).errors]
    assert "join j names table nowhere, and there is no such table" in messages
    assert len(messages) > 1, "what the counts have against the join is said as well"


def test_a_ring_of_operators_is_refused_and_all_of_them_are_named() -> None:
    graph = drawn(reads("a"), merge("m", "a", "p"), maps("n", "m"), repartition("p", "n"))
    assert refusals(graph) == [("m", "operators m, n, p wait for each other's rows")]


def test_a_ring_through_a_table_is_planned() -> None:
    graph = drawn(reads("a"), join_table("j", "a", "users"), fill("back", "j", "users"), tables=(USERS,))
    assert plan(graph).outcome is PlanOutcome.ACCEPTED


def test_what_is_wrong_with_counts_is_said_along_with_what_is_wrong_with_the_graph() -> None:
    graph = drawn(reads("a"), reads("b"), join("j", "a", "b"), maps("m", "nobody"), counts={"a": 1, "b": 2})
    assert [error.reason for error in plan(graph).errors] == [
        Reason.INVALID_GRAPH,
        Reason.JOIN_PARTITION_MISMATCH,
    ]
