"""What the shapes and lines of a drawing mean, in rows as wide as the drawing."""

from collections.abc import Iterator

from streamapp.plan.render.diagram.elements import Diagram, EdgeKind, ErrorRole, Shape
from streamapp.plan.render.drawing.markup import element, escaped_text
from streamapp.plan.render.drawing.node_outlines import outline
from streamapp.plan.render.drawing.svg_shapes import badge, cross

_ROW = 30
_SAMPLE = 34
_SHAPES = {
    Shape.STREAM: "stream",
    Shape.INTERMEDIATE: "intermediate stream",
    Shape.OPERATOR: "operator",
    Shape.JOIN: "needs one count",
    Shape.TABLE: "table",
    Shape.MISSING: "not declared",
}
_FLOWS = {
    EdgeKind.ROWS: "rows, with their count",
    EdgeKind.SIDE: "side input",
    EdgeKind.TABLE: "through a table",
}


def legend(picture: Diagram, width: float) -> tuple[str, float]:
    """The legend of what a picture shows, and its height."""
    entries, x, y = list[str](), 0.0, 0.0
    for sample, says in _entries(picture):
        wide = _SAMPLE + 10 + 6.1 * len(says) + 22
        if x and x + wide > width:
            x, y = 0.0, y + _ROW
        text = element("text", escaped_text(says), class_="says", x=_SAMPLE + 10, y=4)
        entries.append(element("g", sample, text, transform=f"translate({x:g},{y:g})"))
        x += wide
    return "".join(entries), y + _ROW


def _entries(picture: Diagram) -> Iterator[tuple[str, str]]:
    shapes = {node.shape for node in picture.nodes}
    for shape, says in _SHAPES.items():
        if shape in shapes:
            drawn = element("g", outline(shape, _SAMPLE, 18), transform="translate(0,-9)", class_=str(shape))
            yield drawn, says
    if any(node.badge for node in picture.nodes):
        yield element("g", badge("8", 28), class_="stream"), "partition count"
    flows = {edge.flow for edge in picture.edges}
    for flow, says in _FLOWS.items():
        if flow in flows:
            line = element("path", class_="line", d=f"M0,0H{_SAMPLE}")
            tip = element("path", class_="tip", d=f"M{_SAMPLE},0l-8,-4.2v8.4z")
            yield element("g", line, tip, class_=f"edge {flow}"), says
    if any(node.trouble is ErrorRole.FAILING for node in picture.nodes):
        yield cross(17), "in conflict"
