"""The places of edge labels: on the edge, in a gap between columns, without overlaps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamapp.plan.render.diagram.elements import Edge
from streamapp.plan.render.drawing.geometry import LABEL_LETTER, Point, Route
from streamapp.plan.render.wording import display_width

HEIGHT = 14
_PARTS = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
_NEAR = 30  # edges from one node that run this close together need their count but once


@dataclass(frozen=True, slots=True)
class EdgeLabel:
    """The count of an edge at its place; `edge` is the number of the edge."""

    edge: int
    at: Point
    width: float


def place_labels(edges: Sequence[Edge], routes: Sequence[Route]) -> list[EdgeLabel]:
    """A place for every edge's label; labels of failing edges are placed first and get the best places."""
    label_order = sorted(range(len(edges)), key=lambda number: (not edges[number].failing, number))
    # Labels in different gaps cannot overlap, so each label is compared with those of its gap.
    placed_labels: dict[float, list[EdgeLabel]] = {}
    for number in label_order:
        edge, route = edges[number], routes[number]
        if not edge.label or not route.bends:
            continue
        width = display_width(edge.label) * LABEL_LETTER + 6
        candidates = [(gap, EdgeLabel(number, at, width)) for gap, at in _candidates(route)]
        gap, first = candidates[0]
        if any(_repeats(label, first, edges) for label in placed_labels.get(gap, ())):
            continue
        free_places = (
            (gap, label) for gap, label in candidates if not _overlaps(label, placed_labels.get(gap, ()))
        )
        gap, label = next(free_places, candidates[0])
        placed_labels.setdefault(gap, []).append(label)
    return [label for gap in sorted(placed_labels) for label in placed_labels[gap]]


def _candidates(route: Route) -> Iterator[tuple[float, Point]]:
    """Places along an edge, the best first, each with the start of its gap."""
    for bend in (route.bends[0], *route.bends[:0:-1]):
        for part in _PARTS:
            yield bend.start.x, bend.at(part)


def _overlaps(label: EdgeLabel, placed_labels: Sequence[EdgeLabel]) -> bool:
    return any(
        abs(label.at.x - other.at.x) * 2 < label.width + other.width and abs(label.at.y - other.at.y) < HEIGHT
        for other in placed_labels
    )


def _repeats(label: EdgeLabel, candidate: EdgeLabel, edges: Sequence[Edge]) -> bool:
    edge, candidate_edge = edges[label.edge], edges[candidate.edge]
    is_same = (edge.label, edge.failing) == (candidate_edge.label, candidate_edge.failing) and (
        edge.source == candidate_edge.source
        or (edge.source, edge.target) == (candidate_edge.target, candidate_edge.source)
    )
    return is_same and abs(label.at.x - candidate.at.x) < _NEAR and abs(label.at.y - candidate.at.y) < HEIGHT
