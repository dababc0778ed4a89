"""Nodes, edges and counts of a drawing as SVG."""

from streamapp.plan.render.diagram.elements import Edge, ErrorRole, Node, Shape
from streamapp.plan.render.drawing.edge_labels import HEIGHT as LABEL_HEIGHT
from streamapp.plan.render.drawing.edge_labels import EdgeLabel
from streamapp.plan.render.drawing.geometry import HEIGHT, NAME_ROOM, Point, Route, outline
from streamapp.plan.render.drawing.markup import element, escaped_text
from streamapp.plan.render.wording import clip_end, clip_middle, display_width

_KIND_ROOM = 28


def node(drawn: Node, number: int, at: Point, width: float, *, focusable: bool) -> str:
    """One node: kind over name, its count at the upper right, a cross at the upper left if it fails."""
    lower = 5 if drawn.shape is Shape.TABLE else 0
    parts = [
        element("title", escaped_text(drawn.description)),
        outline(drawn.shape, width, HEIGHT),
        _line("kind", clip_end(drawn.kind, _KIND_ROOM), width / 2, 20 + lower),
        _line("name", clip_middle(drawn.shown, NAME_ROOM), width / 2, 36 + lower),
    ]
    if drawn.badge:
        parts.append(badge(drawn.badge, width - 10))
    if drawn.error_role is ErrorRole.FAILING:
        parts.append(cross(10))
    return element(
        "g",
        *parts,
        class_=f"node {drawn.shape} {drawn.error_role}",
        transform=f"translate({at.x:g},{at.y:g})",
        data_node=number,
        data_name=drawn.name,
        tabindex=0 if focusable else None,
        role="button" if focusable else None,
        aria_label=drawn.description if focusable else None,
    )


def edge(drawn: Edge, route: Route) -> str:
    """One edge, with its tip; `data-from` and `data-to` are the numbers of its nodes."""
    if not route.bends:
        return ""
    first, last = route.bends[0], route.bends[-1]
    tip = (
        f"M{first.start.x:g},{first.start.y:g}l8,-4.2v8.4z"
        if route.backward
        else f"M{last.end.x:g},{last.end.y:g}l-8,-4.2v8.4z"
    )
    return element(
        "g",
        element("path", class_="line", d=_path(route)),
        element("path", class_="tip", d=tip),
        class_=f"edge {drawn.kind}{' failing' if drawn.failing else ''}",
        data_from=drawn.source,
        data_to=drawn.target,
    )


def label(drawn: Edge, placed: EdgeLabel) -> str:
    """The count of an edge, on a background so that the edge does not cross the text."""
    left, top = placed.at.x - placed.width / 2, placed.at.y - LABEL_HEIGHT / 2
    return element(
        "g",
        element("rect", x=left, y=top, width=placed.width, height=LABEL_HEIGHT, rx=4),
        _line("count", drawn.label, placed.at.x, placed.at.y + 4),
        class_=f"label{' failing' if drawn.failing else ''}",
        data_from=drawn.source,
        data_to=drawn.target,
    )


def badge(text: str, right: float) -> str:
    """A count in a small pill on the upper border, ending at `right`."""
    width = max(22, 11 + 7 * display_width(text))
    return element(
        "g",
        element("rect", x=right - width, y=-9, width=width, height=18, rx=9),
        _line(None, text, right - width / 2, 4),
        class_="badge",
    )


def cross(x: float) -> str:
    """The mark of a failing node, legible without colour."""
    return element(
        "g",
        element("circle", cx=x, cy=0, r=9.5),
        element("path", d=f"M{x - 3.6:g},-3.6l7.2,7.2m0,-7.2l-7.2,7.2"),
        class_="cross",
    )


def _line(class_: str | None, text: str, x: float, y: float) -> str:
    return element("text", escaped_text(text), class_=class_, x=x, y=y, text_anchor="middle")


def _path(route: Route) -> str:
    parts = [f"M{route.bends[0].start.x:g},{route.bends[0].start.y:g}"]
    for bend in route.bends:
        start, end, middle = bend.start, bend.end, (bend.start.x + bend.end.x) / 2
        parts.append(f"H{start.x:g}C{middle:g},{start.y:g} {middle:g},{end.y:g} {end.x:g},{end.y:g}")
    return "".join(parts)
