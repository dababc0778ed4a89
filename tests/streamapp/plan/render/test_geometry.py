from itertools import combinations, pairwise

import pytest
from hypothesis import given

from streamapp.graph.nodes import Graph
from streamapp.plan.planner import plan
from streamapp.plan.render.diagram.diagram_builder import build_diagram
from streamapp.plan.render.drawing.edge_labels import HEIGHT as LABEL_HEIGHT
from streamapp.plan.render.drawing.edge_labels import place_labels
from streamapp.plan.render.drawing.geometry import HEIGHT, Geometry, Point, measure
from tests.harness.graphs.random_apps import apps
from tests.harness.graphs.shop_apps import shop

_STEPS = 16


def inside(point: Point, corner: Point, geometry: Geometry) -> bool:
    return corner.x < point.x < corner.x + geometry.box and corner.y < point.y < corner.y + HEIGHT


def points(geometry: Geometry) -> list[Point]:
    """Many points of every edge: of its bends, and of the level lines between them."""
    found = []
    for route in geometry.routes:
        for number, bend in enumerate(route.bends):
            found += [bend.at(step / _STEPS) for step in range(_STEPS + 1)]
            if number:
                before = route.bends[number - 1].end
                assert before.y == pytest.approx(bend.start.y)
                width = bend.start.x - before.x
                found += [Point(before.x + width * step / _STEPS, before.y) for step in range(_STEPS)]
    return found


@given(apps())
def test_nodes_do_not_overlap_and_no_edge_runs_through_one(graph: Graph) -> None:
    geometry = measure(build_diagram(graph, plan(graph)))
    for one, other in combinations(geometry.corners, 2):
        assert abs(one.x - other.x) > geometry.box or abs(one.y - other.y) > HEIGHT
    for point in points(geometry):
        assert not any(inside(point, corner, geometry) for corner in geometry.corners)
        assert 0 < point.x < geometry.width
        assert 0 < point.y < geometry.height


@pytest.mark.parametrize("operators", [5, 15, 30, 60])
def test_the_counts_of_an_app_stand_clear_of_each_other(operators: int) -> None:
    graph = shop(operators)
    drawn = build_diagram(graph, plan(graph))
    labels = place_labels(drawn.edges, measure(drawn).routes)
    for one, other in combinations(labels, 2):
        apart = abs(one.at.x - other.at.x) * 2 >= one.width + other.width
        assert apart or abs(one.at.y - other.at.y) >= LABEL_HEIGHT


def test_columns_stand_further_apart_where_many_edges_climb() -> None:
    small, large = (measure(build_diagram(graph, plan(graph))) for graph in (shop(3), shop(60)))
    gaps = [
        [later - earlier - geometry.box for earlier, later in pairwise(lefts)]
        for geometry in (small, large)
        for lefts in [sorted({corner.x for corner in geometry.corners})]
    ]
    assert max(gaps[1]) > max(gaps[0])
