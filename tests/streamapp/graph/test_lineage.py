from streamapp.graph.lineage import lineages
from streamapp.graph.nodes import TableNode
from tests.harness.graphs.graph_drawing import drawn, fill, join, join_table, maps, reads, repartition


def test_a_join_s_lineage_goes_back_through_tables_and_stops_after_intermediate_streams() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        repartition("p", "a"),
        maps("m", "p"),
        maps("n", "b"),
        fill("keep", "n", "users"),
        join_table("j", "m", "users"),
        join("later", "j", "b"),
        tables=(TableNode("users"),),
    )
    assert lineages(graph, ["j", "later"]) == {
        "j": ("b", "j", "keep", "m", "n"),
        "later": ("b", "j", "keep", "later", "m", "n"),
    }
