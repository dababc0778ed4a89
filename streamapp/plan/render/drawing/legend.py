"""The legend of a drawing: the meaning of its shapes and lines, in rows as wide as the drawing."""

from collections.abc import Iterator

from streamapp.plan.render.diagram.elements import Diagram, EdgeKind, ErrorRole, Shape
from streamapp.plan.render.drawing.geometry import outline
from streamapp.plan.render.drawing.markup import element, escaped_text
from streamapp.plan.render.drawing.svg_shapes import badge, cross

_ROW = 30
_SAMPLE = 34
_SHAPE_TEXTS = {
    Shape.STREAM: "stream",
    Shape.INTERMEDIATE: "intermediate stream",
    Shape.OPERATOR: "operator",
    Shape.JOIN: "needs one count",
    Shape.TABLE: "table",
    Shape.MISSING: "not declared",
}
_EDGE_TEXTS = {
    EdgeKind.ROWS: "rows, with their count",
    EdgeKind.SIDE: "side input",
    EdgeKind.TABLE: "through a table",
}


def legend(diagram: Diagram, width: float) -> tuple[str, float]:
    """The legend of a diagram's elements, and its height."""
    entries, x, y = list[str](), 0.0, 0.0
    for sample, description in _entries(diagram):
        entry_width = _SAMPLE + 10 + 6.1 * len(description) + 22
        if x and x + entry_width > width:
            x, y = 0.0, y + _ROW
        text = element("text", escaped_text(description), class_="says", x=_SAMPLE + 10, y=4)
        entries.append(element("g", sample, text, transform=f"translate({x:g},{y:g})"))
        x += entry_width
    return "".join(entries), y + _ROW


def _entries(diagram: Diagram) -> Iterator[tuple[str, str]]:
    shapes = {node.shape for node in diagram.nodes}
    for shape, text in _SHAPE_TEXTS.items():
        if shape in shapes:
            sample = element("g", outline(shape, _SAMPLE, 18), transform="translate(0,-9)", class_=str(shape))
            yield sample, text
    if any(node.badge for node in diagram.nodes):
        yield element("g", badge("8", 28), class_="stream"), "partition count"
    kinds = {edge.kind for edge in diagram.edges}
    for kind, text in _EDGE_TEXTS.items():
        if kind in kinds:
            line = element("path", class_="line", d=f"M0,0H{_SAMPLE}")
            tip = element("path", class_="tip", d=f"M{_SAMPLE},0l-8,-4.2v8.4z")
            yield element("g", line, tip, class_=f"edge {kind}"), text
    if any(node.error_role is ErrorRole.FAILING for node in diagram.nodes):
        yield cross(17), "in conflict"
