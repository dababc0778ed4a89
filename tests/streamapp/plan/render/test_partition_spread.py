from streamapp.graph.nodes import Graph, TableNode
from streamapp.plan.planner import plan
from streamapp.plan.render.diagram.partition_spread import partition_spreads
from tests.harness.graphs.graph_drawing import (
    broadcast,
    drawn,
    fill,
    join,
    join_table,
    maps,
    merge,
    reads,
    repartition,
)


def label(graph: Graph, operator: str) -> str:
    return partition_spreads(graph, plan(graph)).operators[operator].label


def test_rows_keep_the_count_of_the_stream_they_come_from() -> None:
    assert label(drawn(reads("a"), maps("m", "a"), maps("n", "m"), counts={"a": 6}), "n") == "6"


def test_after_a_partition_by_rows_have_its_streams_count() -> None:
    graph = drawn(reads("a"), repartition("r", "a", partitions=16), maps("m", "r"))
    assert (label(graph, "r"), label(graph, "m")) == ("8", "16")


def test_rows_of_streams_that_differ_have_all_their_counts() -> None:
    streams = {"a": 2, "b": 10, "c": 6, "d": 7}
    few = drawn(*map(reads, "ab"), merge("m", "a", "b"), counts={"a": 10, "b": 2})
    many = drawn(*map(reads, "abcd"), merge("m", *"abcd"), counts=streams)
    assert (label(few, "m"), label(many, "m")) == ("2 | 10", "2 | 6 | …")


def test_a_count_that_nothing_gives_is_a_question_mark() -> None:
    assert label(drawn(reads("a"), maps("m", "a"), counts={"a": None}), "m") == "?"


def test_rows_that_every_task_has_count_only_where_there_are_no_others() -> None:
    graph = drawn(reads("a"), reads("b"), broadcast("all", "b"), maps("m", "all"), join("j", "a", "m"))
    assert (label(graph, "m"), label(graph, "j")) == ("all 1", "8")


def test_a_table_holds_what_is_written_to_it() -> None:
    graph = drawn(
        reads("a"),
        fill("f", "a", "t"),
        join_table("j", "a", "t"),
        tables=(TableNode("t"), TableNode("r", True)),
    )
    tables = partition_spreads(graph, plan(graph)).tables
    assert (tables["t"].label, tables["r"].label) == ("8", "")
