import pytest

from streamapp.graph.nodes import Graph, StreamNode, TableNode
from streamapp.plan.count_reason import CountReason, CountSource
from streamapp.plan.partition_plan import Plan, PlannedStream, PlanOutcome
from streamapp.plan.planner import plan
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import PARTITIONS
from tests.harness.graphs.graph_drawing import (
    broadcast,
    drawn,
    fill,
    join,
    join_table,
    reads,
    repartition,
    sends,
)


def stream(graph: Graph, name: str, **config: str) -> PlannedStream:
    found = plan(graph, config={PARTITIONS: config["partitions"]} if config else {})
    assert found.outcome is PlanOutcome.ACCEPTED, found.errors
    return found.streams[name]


def test_an_intermediate_stream_takes_the_count_of_the_input_it_is_joined_with() -> None:
    graph = drawn(
        reads("a"), reads("b"), repartition("p", "b"), join("j", "a", "p"), counts={"a": 16, "b": 5}
    )
    found = stream(graph, "p'")
    assert found.partitions == 16
    assert found.because == CountReason(CountSource.IMPOSED, operator="j", stream="a", origin="a")
    assert found.because.sentence == "imposed by j, where it meets a"


def test_a_count_travels_through_joins_and_each_stream_says_whom_it_met() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        repartition("p", "b"),
        repartition("q", "b"),
        join("j2", "p", "q"),
        join("j1", "a", "p"),
        counts={"a": 16, "b": 5},
    )
    found = stream(graph, "q'")
    assert found.partitions == 16
    assert found.because.sentence == "imposed by j2, where it meets p', whose count comes from a"


def test_a_join_imposes_its_count_whatever_the_config_says() -> None:
    graph = drawn(
        reads("a"), reads("b"), repartition("p", "b"), join("j", "a", "p"), counts={"a": 16, "b": 5}
    )
    assert stream(graph, "p'", partitions="3").partitions == 16


def test_the_configured_count_is_taken_when_no_join_imposes_one() -> None:
    graph = drawn(reads("a"), repartition("p", "a"), counts={"a": 500})
    found = stream(graph, "p'", partitions="300")
    assert (found.partitions, found.because) == (300, CountReason(CountSource.CONFIGURED))


def test_without_a_configured_count_the_largest_of_inputs_and_outputs_is_taken() -> None:
    graph = drawn(
        reads("a"), repartition("p", "a"), sends("s", "p", "out"), counts={"a": 6, "out": 9, "unused": 90}
    )
    found = stream(graph, "p'")
    assert (found.partitions, found.because) == (9, CountReason(CountSource.INFERRED, stream="out"))


def test_an_inferred_count_is_256_at_most_and_an_imposed_one_is_not_capped() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        repartition("p", "a"),
        repartition("q", "a"),
        join("j", "p", "b"),
        counts={"b": 999},
    )
    found = plan(graph).streams
    assert found["p'"].partitions == 999
    assert found["q'"].partitions == 256
    assert (
        found["q'"].because.sentence
        == "the largest count over inputs and outputs is that of b, capped at 256"
    )


def test_side_inputs_do_not_count_for_the_largest() -> None:
    graph = drawn(
        reads("a"),
        repartition("p", "a"),
        repartition("q", "a"),
        join_table("j", "p", "users"),
        counts={"a": 6, "s": 40},
        tables=(TableNode("users", side_inputs=("s",)),),
    )
    found = plan(graph).streams
    assert (found["p'"].partitions, found["q'"].partitions) == (40, 6)


def test_a_stream_that_a_table_is_filled_with_takes_the_count_of_what_the_table_is_joined_with() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        repartition("p", "a"),
        fill("keep", "p", "users"),
        join_table("j", "b", "users"),
        counts={"a": 3, "b": 7},
        tables=(TableNode("users"),),
    )
    assert stream(graph, "p'").partitions == 7


def test_partitions_asked_for_impose_a_count_like_an_input_s() -> None:
    graph = drawn(
        reads("a"), repartition("p", "a", partitions=12), repartition("q", "a"), join("j", "p", "q")
    )
    found = plan(graph, config={PARTITIONS: "4"}).streams
    assert found["p'"].because.sentence == "asked for by p"
    assert found["q'"].partitions == 12


def test_an_intermediate_stream_that_exists_keeps_its_count() -> None:
    graph = drawn(reads("a"), repartition("p", "a"), counts={"a": 3, "p'": 20})
    found = stream(graph, "p'", partitions="7")
    assert (found.partitions, found.because.kind) == (20, CountSource.KNOWN)


def test_streams_joined_only_with_each_other_get_one_count() -> None:
    graph = drawn(
        reads("a"), repartition("p", "a"), repartition("q", "a"), join("j", "p", "q"), counts={"a": 7}
    )
    found = plan(graph)
    assert found.streams["p'"].partitions == found.streams["q'"].partitions == 7
    assert found.components == (("p'", "q'"),)


@pytest.mark.parametrize("config", [{}, {"partitions": "7"}])
def test_a_broadcast_stream_has_one_partition_whatever_else_would_give_a_count(
    config: dict[str, str],
) -> None:
    graph = drawn(reads("a"), reads("b"), broadcast("w", "b"), join("j", "a", "w"), counts={"a": 5, "b": 9})
    found = stream(graph, "w'", **config)
    assert (found.partitions, found.because.kind) == (1, CountSource.BROADCAST)
    assert found.because.sentence == "one keeps the order of what w writes"
    assert found.broadcast


def test_a_broadcast_stream_that_exists_keeps_its_count() -> None:
    found = stream(drawn(reads("a"), broadcast("w", "a"), counts={"a": 3, "w'": 10}), "w'")
    assert (found.partitions, found.because.kind) == (10, CountSource.KNOWN)


def test_a_broadcast_stream_has_its_partition_where_no_count_is_known() -> None:
    found = plan(drawn(reads("a"), broadcast("w", "a"), counts={"a": None}))
    assert found.streams["w'"].partitions == 1
    assert [error.reason for error in found.errors] == [Reason.MISSING_STREAM]


def test_an_output_of_unknown_count_is_accepted_and_constrains_nothing() -> None:
    graph = drawn(reads("a"), repartition("p", "a"), sends("s", "p", "out"), counts={"out": None})
    found = plan(graph)
    assert found.outcome is PlanOutcome.ACCEPTED
    assert found.streams["out"].because.sentence == "unknown"


def test_what_was_known_before_inference_can_be_told() -> None:
    graph = drawn(reads("a"), repartition("p", "a"), repartition("q", "a", partitions=3))
    assert plan(graph).before_inference() == {"a": 8, "p'": None, "q'": 3}


def test_broadcast_inputs_are_written_as_ranges_and_joined_by_commas() -> None:
    found: Plan = plan(
        Graph(
            {operator.name: operator for operator in (reads("z"), reads("a"), reads("b"))},
            {
                "z": StreamNode("z", "main", 64, broadcast=True),
                "a": StreamNode("a", "main", 1, broadcast=True),
                "b": StreamNode("b", "main", 2),
            },
            {},
        )
    )
    assert found.broadcast_inputs == "main.a#0,main.z#[0-63]"
