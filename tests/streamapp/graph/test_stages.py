from streamapp.graph.nodes import TableNode
from streamapp.graph.stages import Stage, stages
from tests.harness.graphs.graph_drawing import drawn, fill, join, join_table, maps, reads, repartition, sends


def test_an_app_is_cut_at_its_intermediate_streams_and_what_writes_one_comes_first() -> None:
    graph = drawn(reads("z"), repartition("p", "z"), maps("a", "p"), sends("b", "a", "out"))
    assert stages(graph) == (Stage(("p", "z"), ("z",), ("p'",)), Stage(("a", "b"), ("p'",), ("out",)))


def test_operators_that_share_a_stream_or_a_local_table_run_together() -> None:
    graph = drawn(
        reads("a"),
        reads("a", "again"),
        maps("m", "again"),
        reads("b"),
        fill("keep", "b", "users"),
        join_table("j", "a", "users"),
        tables=(TableNode("users", side_inputs=()),),
    )
    assert stages(graph) == (Stage(("a", "again", "b", "j", "keep", "m"), ("a", "b"), ()),)


def test_a_remote_table_ties_nothing_together() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        fill("keep", "b", "users"),
        join_table("j", "a", "users"),
        tables=(TableNode("users", remote=True),),
    )
    assert [stage.operators for stage in stages(graph)] == [("a", "j"), ("b", "keep")]


def test_a_stage_reads_the_side_inputs_of_its_tables() -> None:
    graph = drawn(
        reads("a"), join_table("j", "a", "users"), tables=(TableNode("users", side_inputs=("profiles",)),)
    )
    assert stages(graph) == (Stage(("a", "j"), ("a", "profiles"), ()),)


def test_a_repartitioned_stream_joined_with_its_own_source_is_one_stage() -> None:
    graph = drawn(reads("a"), repartition("p", "a"), join("j", "a", "p"))
    assert stages(graph) == (Stage(("a", "j", "p"), ("a", "p'"), ("p'",)),)


def test_stages_that_feed_each_other_through_streams_are_all_there() -> None:
    graph = drawn(reads("a"), repartition("p", "a", stream="b"), reads("b"), sends("s", "b", "a"), reads("c"))
    assert [stage.operators for stage in stages(graph)] == [("c",), ("a", "p"), ("b", "s")]
