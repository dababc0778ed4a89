from dataclasses import replace

from streamapp.graph.join_groups import join_groups, streams_before_state
from streamapp.graph.nodes import Graph, StreamNode, TableNode
from tests.harness.graphs.graph_drawing import (
    aggregate,
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
)

USERS = TableNode("users")


def groups(graph: Graph) -> dict[str, set[str]]:
    found = join_groups(graph)
    return {name: set(found.members(name)) for name in found.masks}


def test_a_join_is_reached_by_streams_through_any_operators_and_through_other_joins() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        reads("c"),
        maps("m", "a"),
        join("j1", "m", "b"),
        maps("n", "j1"),
        join("j2", "n", "c"),
    )
    assert groups(graph) == {"j1": {"a", "b"}, "j2": {"a", "b", "c"}}


def test_a_partition_by_stops_the_walk_and_its_stream_is_a_source_of_its_own() -> None:
    graph = drawn(reads("a"), reads("b"), repartition("p", "a"), maps("m", "p"), join("j", "m", "b"))
    assert groups(graph) == {"j": {"p'", "b"}}


def test_two_partition_bys_that_write_one_stream_are_one_source() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        repartition("p", "a", stream="both"),
        repartition("q", "b", stream="both"),
        join("j", "p", "q"),
    )
    assert groups(graph) == {"j": {"both"}}


def test_what_is_written_to_a_local_table_reaches_every_join_on_it_and_what_follows_them() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        reads("c"),
        fill("t", "a", "users"),
        join_table("j1", "b", "users"),
        join_table("j2", "c", "users"),
        aggregate("after", "j2"),
        tables=(USERS,),
    )
    assert groups(graph) == {"j1": {"a", "b"}, "j2": {"a", "c"}, "after": {"a", "c"}}


def test_side_inputs_belong_to_the_joins_on_their_table_and_are_not_walked_further() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        join_table("j1", "a", "users"),
        join("j2", "j1", "b"),
        tables=(replace(USERS, side_inputs=("s", "t")),),
    )
    assert groups(graph) == {"j1": {"a", "s", "t"}, "j2": {"a", "b"}}


def test_remote_and_broadcast_tables_form_no_group() -> None:
    for table in (replace(USERS, remote=True), replace(USERS, broadcast=True, side_inputs=("s",))):
        graph = drawn(reads("a"), join_table("j", "a", "users"), tables=(table,))
        assert groups(graph) == {}


def test_a_write_to_a_remote_table_reaches_nothing() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        reads("c"),
        fill("t", "a", "users"),
        join_table("j", "b", "users"),
        join("after", "j", "c"),
        tables=(replace(USERS, remote=True),),
    )
    assert groups(graph) == {"after": {"b", "c"}}


def test_broadcast_streams_are_in_no_group() -> None:
    graph = drawn(
        reads("a"), reads("b"), reads("c"), broadcast("w", "a"), join("j", "w", "b"), join("k", "b", "c")
    )
    whole = replace(graph, streams=graph.streams | {"c": StreamNode("c", "main", 5, broadcast=True)})
    assert groups(whole) == {"j": {"b"}, "k": {"b"}}


def test_an_aggregate_of_merged_streams_is_a_group() -> None:
    graph = drawn(reads("a"), reads("b"), merge("m", "a", "b"), aggregate("g", "m"))
    assert groups(graph) == {"g": {"a", "b"}}


def test_processes_that_share_a_table_reach_each_other() -> None:
    graph = drawn(
        reads("a"), reads("b"), process("p", "a", "users"), process("q", "b", "users"), tables=(USERS,)
    )
    assert groups(graph) == {"p": {"a", "b"}, "q": {"a", "b"}}


def test_a_process_without_tables_forms_no_group() -> None:
    assert groups(drawn(reads("a"), process("p", "a"))) == {}


def test_a_cycle_through_a_table_ends_and_all_on_it_have_one_group() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        fill("seed", "b", "users"),
        join_table("j", "a", "users"),
        maps("m", "j"),
        fill("back", "m", "users"),
        tables=(USERS,),
    )
    assert groups(graph) == {"j": {"a", "b"}}


def test_two_tables_that_feed_each_other_share_their_streams() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        join_table("j1", "a", "t1"),
        fill("w2", "j1", "t2"),
        join_table("j2", "b", "t2"),
        fill("w1", "j2", "t1"),
        tables=(TableNode("t1"), TableNode("t2")),
    )
    assert groups(graph) == {"j1": {"a", "b"}, "j2": {"a", "b"}}


def test_a_stream_joined_with_itself_is_a_group_of_one() -> None:
    assert groups(drawn(reads("a"), join("j", "a", "a"))) == {"j": {"a"}}


def test_two_operators_that_read_one_stream_are_one_source() -> None:
    assert groups(drawn(reads("a"), reads("a", "again"), join("j", "a", "again"))) == {"j": {"a"}}


def test_names_that_nothing_declares_are_passed_over() -> None:
    graph = drawn(reads("a"), join("j", "a", "nobody"), join_table("k", "a", "nothing"))
    assert groups(graph) == {"j": {"a"}}


def test_streams_before_state_are_those_whose_rows_come_to_it_without_a_stream_in_between() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        reads("c"),
        maps("m", "a"),
        repartition("p", "m"),
        aggregate("total", "p"),
        process("own", "b"),
        maps("plain", "c"),
    )
    assert streams_before_state(graph) == {"p'", "b"}


def test_a_local_table_is_state_of_all_that_fill_it_and_look_into_it() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        reads("c"),
        fill("w", "a", "users"),
        join_table("j", "b", "users"),
        join_table("r", "c", "rates"),
        tables=(
            TableNode("users", side_inputs=("s",)),
            TableNode("rates", broadcast=True, side_inputs=("t",)),
        ),
    )
    assert streams_before_state(graph) == {"a", "b", "s"}
