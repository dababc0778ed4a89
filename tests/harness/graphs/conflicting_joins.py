"""Apps whose joins cannot have their way, as tests of several forms show them."""

from streamapp.graph.nodes import Graph, TableNode
from tests.harness.graphs.graph_drawing import drawn, join, join_table, maps, merge, reads, sends


def eight_and_six() -> Graph:
    """A table filled from six partitions, joined with a stream of eight."""
    return drawn(
        reads("views"),
        maps("real", "views"),
        join_table("joined", "real", "users"),
        sends("out", "joined", "enriched"),
        counts={"users": 6},
        tables=(TableNode("users", side_inputs=("users",)),),
    )


def one_among_many() -> Graph:
    """Four streams of eight partitions and one of six meet in one join."""
    names = ["a", "b", "c", "d"]
    return drawn(
        *map(reads, names),
        reads("odd"),
        maps("cleaned", "odd"),
        merge("all", *names),
        join("joined", "all", "cleaned"),
        maps("after", "joined"),
        counts={"odd": 6},
    )
