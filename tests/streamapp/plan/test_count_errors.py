import pytest

from streamapp.graph.nodes import OperatorNode, TableNode
from streamapp.plan.partition_plan import Mode, PlanOutcome, Role
from streamapp.plan.planner import plan
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import PARTITIONS
from streamapp.spec.resource.operator_kinds import OperatorKind
from tests.harness.graphs.graph_drawing import drawn, join, join_table, maps, reads, repartition, sends


@pytest.mark.parametrize("text", ["0", "-1", "many", "2.5", "", " ", "1e3", "٣"])
def test_a_configured_count_that_is_none_is_refused_even_when_nothing_needs_it(text: str) -> None:
    (error,) = plan(drawn(reads("a"), maps("m", "a")), config={PARTITIONS: text}).errors
    assert error.reason is Reason.INVALID_CONFIG
    assert error.message == f'{PARTITIONS} is "{text}", which is no partition count'


@pytest.mark.parametrize("partitions", [0, -4])
def test_partitions_asked_for_have_to_be_positive(partitions: int) -> None:
    (error,) = plan(drawn(reads("a"), repartition("p", "a", partitions=partitions))).errors
    assert (error.reason, error.operator) == (Reason.INVALID_CONFIG, "p")


def test_partitions_asked_for_have_to_be_those_of_the_stream_that_exists() -> None:
    (error,) = plan(drawn(reads("a"), repartition("p", "a", partitions=4), counts={"p'": 6})).errors
    assert error.reason is Reason.INVALID_CONFIG
    assert error.message == "partitionBy p asks for 4 partitions, but stream p' exists with 6"


def test_each_that_asks_for_another_count_than_the_stream_has_is_refused_once() -> None:
    graph = drawn(
        reads("a"),
        *(
            repartition(name, "a", stream="both", partitions=count)
            for name, count in (("p", 3), ("q", 2), ("r", 4))
        ),
        counts={"both": 2},
    )
    errors = plan(graph).errors
    assert [error.operator for error in errors] == ["p", "r"]
    assert all(error.hint.endswith("or set it to 2") for error in errors)


def test_two_partition_bys_cannot_ask_for_different_counts_of_one_stream() -> None:
    graph = drawn(
        reads("a"),
        repartition("p", "a", stream="both", partitions=4),
        repartition("q", "a", stream="both", partitions=6),
    )
    (error,) = plan(graph).errors
    assert (error.reason, error.operator) == (Reason.INVALID_CONFIG, "q")


def test_all_missing_inputs_and_side_inputs_are_named_in_one_error() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        join("j", "a", "b"),
        join_table("k", "b", "users"),
        counts={"a": None, "s": None, "b": 4, "unused": None},
        tables=(TableNode("users", side_inputs=("s",)),),
    )
    (error,) = plan(graph).errors
    assert error.reason is Reason.MISSING_STREAM
    assert error.streams == (("a", None), ("s", None))
    assert error.message == "the partition count of the streams a (system main), s (system main) is unknown"


def test_a_stream_of_no_partitions_is_missing() -> None:
    (error,) = plan(drawn(reads("a"), counts={"a": 0})).errors
    assert error.reason is Reason.MISSING_STREAM


def test_a_missing_stream_does_not_hide_that_the_others_disagree() -> None:
    graph = drawn(
        reads("a"), reads("b"), reads("c"), join("j", "a", "b", "c"), counts={"a": None, "b": 2, "c": 3}
    )
    assert [error.reason for error in plan(graph).errors] == [
        Reason.MISSING_STREAM,
        Reason.JOIN_PARTITION_MISMATCH,
    ]


def test_an_intermediate_stream_without_any_known_count_around_it_is_unresolved() -> None:
    graph = drawn(
        reads("p'", "again"), repartition("p", "again"), sends("s", "p", "out"), counts={"out": None}
    )
    (error,) = plan(graph).errors
    assert (error.reason, error.streams) == (Reason.UNRESOLVED_PARTITIONS, (("p'", None),))
    assert plan(graph, config={PARTITIONS: "2"}).outcome is PlanOutcome.ACCEPTED


def test_what_only_follows_from_a_missing_stream_is_not_reported() -> None:
    (error,) = plan(drawn(reads("a"), repartition("p", "a"), counts={"a": None})).errors
    assert error.reason is Reason.MISSING_STREAM


def test_a_missing_stream_leaves_the_counts_of_other_joins_as_they_follow() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        reads("c"),
        repartition("p", "c"),
        join("j", "p", "b"),
        counts={"a": None, "b": 4, "c": 8},
    )
    planned = plan(graph)
    assert [error.reason for error in planned.errors] == [Reason.MISSING_STREAM]
    assert planned.streams["p'"].partitions == 4


def test_streams_are_classified_by_who_reads_and_writes_them() -> None:
    graph = drawn(
        reads("a"),
        reads("loop"),
        repartition("p", "a"),
        sends("s1", "p", "out"),
        sends("s2", "p", "loop"),
        counts={"unused": 5},
        tables=(TableNode("users", side_inputs=("s",)),),
    )
    found = plan(graph, mode=Mode.BATCH)
    assert found.mode is Mode.BATCH
    assert found.classification() == {
        Role.INPUT: ("a",),
        Role.OUTPUT: ("out",),
        Role.INPUT_OUTPUT: ("loop",),
        Role.INTERMEDIATE: ("p'",),
        Role.SIDE_INPUT: ("s",),
    }


def test_every_kind_of_operator_can_be_planned() -> None:
    operators = [
        OperatorNode(
            kind, kind, ("a", "a"), "a" if kind in {OperatorKind.SEND_TO} else f"{kind}'", ("users",)
        )
        for kind in OperatorKind
        if kind is not OperatorKind.INPUT
    ]
    graph = drawn(reads("a"), *operators, tables=(TableNode("users"),))
    assert plan(graph).outcome is PlanOutcome.ACCEPTED
