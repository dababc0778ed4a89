from dataclasses import replace

from streamapp.graph.nodes import Graph, TableNode
from streamapp.plan.partition_plan import PlanError, PlanOutcome
from streamapp.plan.planner import plan
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import PARTITIONS
from tests.harness.graphs.graph_drawing import (
    aggregate,
    drawn,
    fill,
    join,
    join_table,
    maps,
    merge,
    reads,
    repartition,
)

USERS = TableNode("users")


def only_error(graph: Graph) -> PlanError:
    (error,) = plan(graph).errors
    assert error.reason is Reason.JOIN_PARTITION_MISMATCH
    return error


def test_a_join_of_eight_and_six_partitions_is_refused_and_both_streams_are_named() -> None:
    error = only_error(drawn(reads("a"), reads("b"), join("j", "a", "b"), counts={"a": 8, "b": 6}))
    assert error.operator == "j"
    assert error.streams == (("a", 8), ("b", 6))
    assert error.message == "join j needs streams of one partition count, but b has 6; a has 8"
    assert error.hint == "repartition b with partitionBy before j; or give b 8 partitions"


def test_a_stream_that_two_joins_pull_apart_fails_the_second_and_the_first_is_named_as_the_cause() -> None:
    error = only_error(
        drawn(
            reads("a"),
            reads("b"),
            repartition("p", "a"),
            join("j1", "a", "p"),
            join("j2", "p", "b"),
            counts={"a": 16, "b": 8},
        )
    )
    assert error.operator == "j2"
    assert error.message == (
        "join j2 needs streams of one partition count, "
        "but b has 8; p' (imposed by j1, where it meets a) has 16"
    )


def test_an_intermediate_stream_that_cannot_grow_is_to_be_repartitioned_once_more() -> None:
    error = only_error(
        drawn(
            reads("a"),
            reads("b"),
            repartition("p", "a"),
            join("j1", "a", "p"),
            join("j2", "p", "b"),
            counts={"a": 8, "b": 16},
        )
    )
    assert error.hint == "repartition p' with one more partitionBy before j2"


def test_every_failing_join_is_named() -> None:
    found = plan(
        drawn(
            reads("a"),
            reads("b"),
            reads("c"),
            join("j2", "b", "c"),
            join("j1", "a", "b"),
            counts={"a": 1, "b": 2, "c": 3},
        )
    )
    assert found.outcome is PlanOutcome.REJECTED
    assert [error.operator for error in found.errors] == ["j1", "j2"]


def test_partitions_asked_for_that_do_not_fit_are_to_be_changed_on_the_partition_by() -> None:
    error = only_error(
        drawn(reads("a"), repartition("p", "a", partitions=4), join("j", "a", "p"), counts={"a": 8})
    )
    assert error.message.endswith("p' (asked for by p) has 4; a has 8")
    assert error.hint == "set partitions: 8 on p; or leave partitions out of p"


def test_a_side_input_that_disagrees_is_mended_by_the_stream_or_by_a_broadcast_table() -> None:
    error = only_error(
        drawn(
            reads("a"),
            join_table("j", "a", "users"),
            counts={"a": 8, "s": 6},
            tables=(replace(USERS, side_inputs=("s",)),),
        )
    )
    assert (
        error.message
        == "joinTable j on table users needs streams of one partition count, but s has 6; a has 8"
    )
    assert error.hint == (
        "repartition a with partitionBy before j; "
        "or make table users broadcast, so that its side inputs constrain nothing"
    )


def test_side_inputs_that_disagree_with_each_other_are_to_grow() -> None:
    error = only_error(
        drawn(
            reads("a"),
            join_table("j", "a", "users"),
            counts={"a": 8, "s": 6, "t": 8},
            tables=(replace(USERS, side_inputs=("s", "t")),),
        )
    )
    assert error.hint.startswith("give s 8 partitions; or make table users broadcast")


def test_a_table_filled_from_a_stream_of_another_count_fails_every_join_on_it() -> None:
    found = plan(
        drawn(
            reads("a"),
            reads("b"),
            reads("c"),
            fill("keep", "a", "users"),
            join_table("j1", "b", "users"),
            join_table("j2", "c", "users"),
            counts={"a": 4, "b": 8, "c": 16},
            tables=(USERS,),
        )
    )
    assert [(error.operator, error.streams) for error in found.errors] == [
        ("j1", (("a", 4), ("b", 8))),
        ("j2", (("a", 4), ("c", 16))),
    ]


def test_an_aggregate_over_merged_streams_of_different_counts_is_refused() -> None:
    graph = drawn(reads("a"), reads("b"), merge("m", "a", "b"), aggregate("g", "m"), counts={"a": 8, "b": 6})
    assert only_error(graph).operator == "g"


def test_a_merge_alone_needs_no_agreement() -> None:
    graph = drawn(reads("a"), reads("b"), merge("m", "a", "b"), counts={"a": 8, "b": 6})
    assert plan(graph).outcome is PlanOutcome.ACCEPTED


def test_a_stream_joined_with_itself_is_fine() -> None:
    assert plan(drawn(reads("a"), maps("m", "a"), join("j", "a", "m"))).outcome is PlanOutcome.ACCEPTED


def test_a_stream_that_would_take_any_count_is_named_but_not_to_be_mended() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        repartition("p", "a"),
        merge("m", "a", "p"),
        join("j", "m", "b"),
        counts={"a": 8, "b": 6},
    )
    (error,) = plan(graph, config={PARTITIONS: "3"}).errors
    assert error.streams == (("a", 8), ("b", 6), ("p'", 3))
    assert "p'" not in error.hint


def test_a_message_about_a_hundred_streams_stays_readable_and_the_error_holds_them_all() -> None:
    inputs = [reads(f"s{number:03}") for number in range(100)]
    graph = drawn(
        *inputs,
        join("j", *(operator.name for operator in inputs)),
        counts={operator.name: 4 + number % 2 for number, operator in enumerate(inputs)},
    )
    error = only_error(graph)
    assert len(error.streams) == 100
    assert "and 38 more have 4" in error.message
    assert error.hint.startswith("repartition each of s000, s002,")
    assert "s022 and 38 more with partitionBy before j; or give each of s000," in error.hint
    assert error.hint.endswith("and 38 more 5 partitions")
