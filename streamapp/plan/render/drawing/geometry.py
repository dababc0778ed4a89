"""From columns and rows to points: boxes of one width, and edges that bend only between columns.

An edge crosses a column in a straight line at a free place, so it never runs through a node.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from streamapp.plan.render.diagram.elements import Diagram, Shape
from streamapp.plan.render.drawing.graph_layout import GraphLayout, GridPosition, lay_out
from streamapp.plan.render.drawing.markup import element
from streamapp.plan.render.wording import clip_middle, display_width

NAME_ROOM = 23  # letters of a name
HEIGHT = 50
LABEL_LETTER = 6.6  # the width of a letter of a label
_NAME_LETTER = 7.3
_KIND_LETTER = 6.0
_PADDING = 38
_ROW = 84
_MARGIN = 28
_LEAST_BOX = 128
_MOST_BOX = 206
_LEAST_GAP = 60
_STEEP = 7  # how much wider an edge over several rows makes its gap
_MOST_STEEP = 84
_PORTS = 9  # how far from the middle of a node's side edges may enter it


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the drawing."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Bend:
    """An edge's curve through the gap between two columns: horizontal at both ends."""

    start: Point
    end: Point

    def at(self, part: float) -> Point:
        """The point of the curve at a part of its length, from 0 to 1."""
        remaining_part = 1 - part
        across = part * (1.5 * remaining_part + part * part)
        down = part * part * (3 * remaining_part + part)
        return Point(
            self.start.x + (self.end.x - self.start.x) * across,
            self.start.y + (self.end.y - self.start.y) * down,
        )


@dataclass(frozen=True, slots=True)
class Route:
    """An edge's bends from left to right. A backward edge closes a cycle: its tip is at the left."""

    bends: tuple[Bend, ...]
    backward: bool


@dataclass(frozen=True, slots=True)
class Geometry:
    """The drawing's size, the width of a node, the nodes' upper left corners and the edges' routes."""

    width: float
    height: float
    box: float
    corners: tuple[Point, ...]
    routes: tuple[Route, ...]


def measure(diagram: Diagram) -> Geometry:
    """Lay a diagram out; its texts decide the widths of columns and gaps."""
    layout = lay_out(len(diagram.nodes), [(edge.source, edge.target) for edge in diagram.edges])
    box = _box(diagram)
    places = [*layout.nodes, *(place for way in layout.ways.values() for place in way)]
    column_lefts = _column_lefts(diagram, layout, box, max((place.column for place in places), default=0))
    return Geometry(
        width=column_lefts[-1] + box + _MARGIN,
        height=_MARGIN + max((place.row for place in places), default=0) * _ROW + HEIGHT + _MARGIN,
        box=box,
        corners=tuple(_corner(place, column_lefts) for place in layout.nodes),
        routes=tuple(_routes(diagram, layout, box, column_lefts)),
    )


def _box(diagram: Diagram) -> int:
    name = max((display_width(clip_middle(node.shown, NAME_ROOM)) for node in diagram.nodes), default=0)
    kind = max((display_width(node.kind) for node in diagram.nodes), default=0)
    text_width = _PADDING + max(_NAME_LETTER * name, _KIND_LETTER * kind)
    return round(min(max(text_width, _LEAST_BOX), _MOST_BOX))


def _column_lefts(diagram: Diagram, layout: GraphLayout, box: float, last: int) -> Sequence[float]:
    """The left border of each column. A gap has room for its counts, and more for steep edges."""
    gaps = [float(_LEAST_GAP)] * last
    steep_counts = [0] * last
    for edge in diagram.edges:
        way = layout.ways.get((edge.source, edge.target), ())
        for start, end in pairwise(way):
            gaps[start.column] = max(gaps[start.column], round(28 + LABEL_LETTER * display_width(edge.label)))
            steep_counts[start.column] += abs(start.row - end.row) > 1.5
    gap_widths = [
        gap + min(_STEEP * count, _MOST_STEEP) for gap, count in zip(gaps, steep_counts, strict=True)
    ]
    return [
        _MARGIN + gaps_before + column * box
        for column, gaps_before in enumerate(accumulate(gap_widths, initial=0))
    ]


def _corner(place: GridPosition, left: Sequence[float]) -> Point:
    return Point(round(left[place.column], 1), round(_MARGIN + place.row * _ROW, 1))


def _routes(diagram: Diagram, layout: GraphLayout, box: float, left: Sequence[float]) -> list[Route]:
    entries = _entries(diagram, layout.ways)
    routes = []
    for number, edge in enumerate(diagram.edges):
        way = layout.ways.get((edge.source, edge.target), ())
        backward = bool(way) and way[0] != layout.nodes[edge.source]
        bends = [_bend(_corner(start, left), _corner(end, left), box) for start, end in pairwise(way)]
        if bends and backward:
            bends[0] = Bend(_moved_down(bends[0].start, entries[number]), bends[0].end)
        elif bends:
            bends[-1] = Bend(bends[-1].start, _moved_down(bends[-1].end, entries[number]))
        routes.append(Route(tuple(bends), backward))
    return routes


def _entries(diagram: Diagram, ways: Mapping[tuple[int, int], Sequence[GridPosition]]) -> Mapping[int, float]:
    """The distance from a node's middle at which each edge enters the node, so that tips stay apart."""
    incoming: dict[int, list[tuple[float, int]]] = {}
    for number, edge in enumerate(diagram.edges):
        way = ways.get((edge.source, edge.target))
        if way is not None:
            incoming.setdefault(edge.target, []).append((way[-2].row, number))
    entries: dict[int, float] = {}
    for arriving in incoming.values():
        step = min(_PORTS, 2 * _PORTS / max(1, len(arriving) - 1))
        for place, (_, number) in enumerate(sorted(arriving)):
            entries[number] = round((place - (len(arriving) - 1) / 2) * step, 1)
    return entries


def _bend(left: Point, right: Point, box: float) -> Bend:
    return Bend(Point(left.x + box, left.y + HEIGHT / 2), Point(right.x, right.y + HEIGHT / 2))


def _moved_down(point: Point, down: float) -> Point:
    return Point(point.x, point.y + down)


_RIM = 5.5


def outline(shape: Shape, width: float, height: float) -> str:
    """The outline of a node of this size, its upper left corner at 0, 0."""
    if shape is Shape.TABLE:
        return _cylinder(width, height)
    round_ = height / 2 if shape in (Shape.STREAM, Shape.INTERMEDIATE) else 7
    return element("rect", class_="outline", width=width, height=height, rx=round_)


def _cylinder(width: float, height: float) -> str:
    half = width / 2
    top = f"a{half:g},{_RIM} 0 0 1 {width:g},0"
    side = height - 2 * _RIM
    body = f"M0,{_RIM}{top}v{side:g}a{half:g},{_RIM} 0 0 1 {-width:g},0z"
    rim = f"M0,{_RIM}a{half:g},{_RIM} 0 0 0 {width:g},0"
    return element("path", class_="outline", d=body) + element("path", class_="rim", d=rim)
