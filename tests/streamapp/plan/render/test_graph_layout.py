from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from streamapp.plan.render.drawing.graph_layout import NODE_APART, WAY_APART, GraphLayout, lay_out

_CLOSE = 1e-3  # rows are rounded to thousandths


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, 25))
    node = st.integers(0, count - 1)
    return count, draw(st.lists(st.tuples(node, node), max_size=50))


def columns(layout: GraphLayout) -> list[int]:
    return [place.column for place in layout.nodes]


@given(edge_lists())
def test_no_two_nodes_come_closer_than_one_row(given_: tuple[int, list[tuple[int, int]]]) -> None:
    layout = lay_out(*given_)
    for one, other in combinations(layout.nodes, 2):
        assert one.column != other.column or abs(one.row - other.row) > NODE_APART - _CLOSE


@given(edge_lists())
def test_an_edge_passes_every_column_between_its_ends_beside_the_nodes_there(
    given_: tuple[int, list[tuple[int, int]]],
) -> None:
    layout = lay_out(*given_)
    for (source, target), way in layout.ways.items():
        assert {way[0], way[-1]} == {layout.nodes[source], layout.nodes[target]}
        assert [place.column for place in way] == list(range(way[0].column, way[-1].column + 1))
        for place in way[1:-1]:
            for node in layout.nodes:
                assert node.column != place.column or abs(node.row - place.row) > WAY_APART - _CLOSE


@given(edge_lists())
def test_without_rings_every_edge_runs_to_the_right(given_: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = given_
    layout = lay_out(count, [edge for edge in edges if edge[0] < edge[1]])
    for source, target in layout.ways:
        assert columns(layout)[source] < columns(layout)[target]


def test_a_ring_has_one_edge_that_runs_back() -> None:
    layout = lay_out(5, [(0, 1), (1, 2), (2, 3), (3, 1), (2, 4)])
    assert columns(layout) == [0, 1, 2, 3, 3]


def test_parts_that_nothing_connects_stand_below_each_other() -> None:
    layout = lay_out(5, [(0, 1), (3, 4)])
    rows = [layout.nodes[node].row for node in (0, 2, 3)]
    assert rows == [0, 1, 2]


def test_an_edge_from_a_node_to_itself_has_no_way() -> None:
    assert lay_out(2, [(0, 0), (0, 1), (0, 1)]).ways.keys() == {(0, 1)}
