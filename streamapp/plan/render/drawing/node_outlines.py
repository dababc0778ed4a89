"""The outlines of nodes: streams are pills, tables cylinders, operators boxes."""

from streamapp.plan.render.diagram.elements import Shape
from streamapp.plan.render.drawing.markup import element

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
