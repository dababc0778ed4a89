"""A plan as a drawing: one SVG that stands alone, follows the reader's light or dark, and scales."""

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan, PlanOutcome
from streamapp.plan.render.diagram.diagram_builder import build_diagram
from streamapp.plan.render.diagram.elements import Diagram
from streamapp.plan.render.drawing import svg_shapes
from streamapp.plan.render.drawing.edge_labels import place_labels
from streamapp.plan.render.drawing.geometry import measure
from streamapp.plan.render.drawing.legend import legend
from streamapp.plan.render.drawing.markup import element, escaped_text
from streamapp.plan.render.drawing.svg_style import STYLE
from streamapp.plan.render.drawing.theme import variables
from streamapp.plan.render.wording import clip_end, legible, outcome_text, summary

_LEAST_WIDTH = 760
_MARGIN = 28
_HEAD = 64
_LINE = 22
_SHOWN_ERRORS = 12  # errors that a drawing lists; the other forms list all


def render(name: str, graph: Graph, plan: Plan) -> str:
    """The drawing with a heading above, and errors and a legend below."""
    diagram = build_diagram(graph, plan)
    body, width, height = drawing(diagram, focusable=False)
    width = max(width, _LEAST_WIDTH)
    error_lines = _errors(plan, width)
    legend_markup, legend_height = legend(diagram, width - 2 * _MARGIN)
    legend_top = _HEAD + height
    total_height = legend_top + legend_height + len(error_lines) * _LINE + 10
    title = f"Plan of {name}: {plan.outcome}"
    return (
        element(
            "svg",
            element("title", escaped_text(title)),
            element(
                "desc", escaped_text(" ".join([summary(graph, plan), *(e.message for e in plan.errors)]))
            ),
            element("style", variables("svg.plan") + STYLE),
            element("rect", class_="ground", width=width, height=total_height),
            _heading(name, graph, plan),
            element("g", body, transform=f"translate(0,{_HEAD})"),
            element("g", *error_lines, transform=f"translate({_MARGIN},{legend_top + 4:g})"),
            element(
                "g",
                legend_markup,
                class_="legend",
                transform=f"translate({_MARGIN},{legend_top + 14 + len(error_lines) * _LINE:g})",
            ),
            xmlns="http://www.w3.org/2000/svg",
            class_="plan",
            role="img",
            aria_label=title,
            viewBox=f"0 0 {width:g} {total_height:g}",
            width=width,
            height=total_height,
            style="max-width:100%;height:auto",
        )
        + "\n"
    )


def drawing(diagram: Diagram, *, focusable: bool) -> tuple[str, float, float]:
    """The markup of nodes, edges and counts, with its width and height."""
    geometry = measure(diagram)
    edges = [svg_shapes.edge(edge, route) for edge, route in zip(diagram.edges, geometry.routes, strict=True)]
    # Failing edges are drawn last, so that no other edge covers them.
    edge_order = sorted(range(len(edges)), key=lambda number: diagram.edges[number].failing)
    labels = [
        svg_shapes.label(diagram.edges[edge_label.edge], edge_label)
        for edge_label in place_labels(diagram.edges, geometry.routes)
    ]
    nodes = [
        svg_shapes.node(node, number, corner, geometry.box, focusable=focusable)
        for number, (node, corner) in enumerate(zip(diagram.nodes, geometry.corners, strict=True))
    ]
    body = [
        element("g", *(edges[number] for number in edge_order), class_="edges"),
        element("g", *labels, class_="labels"),
        element("g", *nodes, class_="nodes"),
    ]
    return "".join(body), geometry.width, geometry.height


def _heading(name: str, graph: Graph, plan: Plan) -> str:
    return "".join(
        (
            element("text", escaped_text(clip_end(legible(name), 48)), class_="heading", x=_MARGIN, y=36),
            element(
                "text",
                element("tspan", escaped_text(outcome_text(plan)), class_=f"verdict {plan.outcome}"),
                element("tspan", escaped_text(f"  ·  {summary(graph, plan)}"), class_="about"),
                x=_MARGIN,
                y=58,
                class_="about",
            ),
        )
    )


def _errors(plan: Plan, width: float) -> list[str]:
    if plan.outcome is PlanOutcome.ACCEPTED:
        return []
    most_letters = int((width - 2 * _MARGIN) / 6.6)
    lines = [f"✗ {legible(error.message)}" for error in plan.errors[:_SHOWN_ERRORS]]
    hidden_count = len(plan.errors) - _SHOWN_ERRORS
    if hidden_count > 0:
        lines.append(f"and {hidden_count} more")
    return [
        element(
            "text",
            element("title", escaped_text(line)),
            escaped_text(clip_end(line, most_letters)),
            class_="said",
            y=number * _LINE,
        )
        for number, line in enumerate(lines)
    ]
