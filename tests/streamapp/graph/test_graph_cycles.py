from hypothesis import given
from hypothesis import strategies as st

from streamapp.graph.components import strong_components
from streamapp.graph.cycles import cycles
from streamapp.graph.nodes import TableNode
from tests.harness.graphs.graph_drawing import drawn, fill, join_table, maps, merge, reads, repartition

EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


def reachable(before: list[list[int]], start: int) -> set[int]:
    found = {start}
    while more := {earlier for vertex in found for earlier in before[vertex]} - found:
        found |= more
    return found


@given(EDGES)
def test_vertices_are_in_one_part_when_they_reach_each_other_and_parts_come_after_what_leads_to_them(
    edges: list[tuple[int, int]],
) -> None:
    before = [[a for a, b in edges if b == vertex] for vertex in range(8)]
    reach = [reachable(before, vertex) for vertex in range(8)]
    parts = strong_components(before)
    assert {frozenset(part) for part in parts} == {
        frozenset(other for other in range(8) if other in reach[vertex] and vertex in reach[other])
        for vertex in range(8)
    }
    seen: set[int] = set()
    for part in parts:
        seen |= set(part)
        assert all(reach[vertex] <= seen for vertex in part)


def test_operators_that_read_each_other_are_a_ring() -> None:
    graph = drawn(reads("a"), merge("m", "a", "n"), maps("n", "m"), maps("after", "n"))
    assert cycles(graph) == [("m", "n")]


def test_an_operator_that_reads_itself_is_a_ring() -> None:
    assert cycles(drawn(maps("m", "m"))) == [("m",)]


def test_a_partition_by_does_not_open_a_ring() -> None:
    assert cycles(drawn(reads("a"), merge("m", "a", "p"), repartition("p", "m"))) == [("m", "p")]


def test_a_table_opens_a_ring() -> None:
    graph = drawn(
        reads("a"), join_table("j", "a", "seen"), fill("keep", "j", "seen"), tables=(TableNode("seen"),)
    )
    assert cycles(graph) == []
