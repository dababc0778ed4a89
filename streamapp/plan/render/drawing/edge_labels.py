"""Where the counts on edges stand: on their edge, in a gap between columns, and not on each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamapp.plan.render.diagram.elements import Edge
from streamapp.plan.render.display_names import display_width
from streamapp.plan.render.drawing.geometry import LABEL_LETTER, Point, Route

HEIGHT = 14
_PARTS = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
_NEAR = 30  # edges from one node that run this close together need their count but once


@dataclass(frozen=True, slots=True)
class EdgeLabel:
    """A count at its place; `edge` is the number of its edge."""

    edge: int
    at: Point
    width: float


def place_labels(edges: Sequence[Edge], routes: Sequence[Route]) -> list[EdgeLabel]:
    """A place for every edge's label, red ones first: where there is little room, they get the best."""
    order = sorted(range(len(edges)), key=lambda number: (not edges[number].failing, number))
    # Labels in different gaps cannot meet, so each is only held against those in its own.
    placed: dict[float, list[EdgeLabel]] = {}
    for number in order:
        edge, route = edges[number], routes[number]
        if not edge.label or not route.bends:
            continue
        width = display_width(edge.label) * LABEL_LETTER + 6
        candidates = [(gap, EdgeLabel(number, at, width)) for gap, at in _candidates(route)]
        gap, first = candidates[0]
        if any(_says_it(label, first, edges) for label in placed.get(gap, ())):
            continue
        free = ((gap, label) for gap, label in candidates if not _taken(label, placed.get(gap, ())))
        gap, label = next(free, candidates[0])
        placed.setdefault(gap, []).append(label)
    return [label for gap in sorted(placed) for label in placed[gap]]


def _candidates(route: Route) -> Iterator[tuple[float, Point]]:
    """Places along an edge, the best first, and where the gap begins that each is in."""
    for bend in (route.bends[0], *route.bends[:0:-1]):
        for part in _PARTS:
            yield bend.start.x, bend.at(part)


def _taken(label: EdgeLabel, placed: Sequence[EdgeLabel]) -> bool:
    return any(
        abs(label.at.x - other.at.x) * 2 < label.width + other.width and abs(label.at.y - other.at.y) < HEIGHT
        for other in placed
    )


def _says_it(label: EdgeLabel, wanted: EdgeLabel, edges: Sequence[Edge]) -> bool:
    one, other = edges[label.edge], edges[wanted.edge]
    same = (one.label, one.failing) == (other.label, other.failing) and (
        one.source == other.source or (one.source, one.target) == (other.target, other.source)
    )
    return same and abs(label.at.x - wanted.at.x) < _NEAR and abs(label.at.y - wanted.at.y) < HEIGHT
