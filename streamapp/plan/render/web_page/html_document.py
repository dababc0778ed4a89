"""A plan as one self-contained page: the drawing, its groups, the errors, every stream's count.

All texts are in the page as markup. The page's policy allows its script by hash, so no other script can run.
"""

from base64 import b64encode
from hashlib import sha256

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan, PlanError, PlanOutcome
from streamapp.plan.render.diagram.diagram_builder import build_diagram
from streamapp.plan.render.diagram.elements import Diagram, Shape
from streamapp.plan.render.diagram.error_highlights import deviating_streams
from streamapp.plan.render.display_names import legible
from streamapp.plan.render.drawing import svg_style
from streamapp.plan.render.drawing.legend import legend
from streamapp.plan.render.drawing.markup import attributes, element, escaped_text
from streamapp.plan.render.drawing.svg_document import drawing
from streamapp.plan.render.drawing.theme import variables
from streamapp.plan.render.summary import outcome_text, summary
from streamapp.plan.render.web_page import page_style
from streamapp.plan.render.web_page.group_cards import group_cards, short_count
from streamapp.plan.render.web_page.page_script import SCRIPT
from streamapp.plan.render.wording import ROLES

_LEGEND_WIDTH = 1200
_STYLE = variables(":root") + page_style.STYLE + svg_style.STYLE


def render(name: str, graph: Graph, plan: Plan) -> str:
    """The page."""
    diagram = build_diagram(graph, plan)
    deviating = {stream for error in plan.errors for stream in deviating_streams(error)}
    below = [_errors(plan, diagram)] if plan.errors else []
    return "\n".join(
        (
            "<!DOCTYPE html>",
            f"<html{attributes(lang='en')}>",
            _head(name, plan),
            "<body>",
            _header(name, graph, plan),
            _main(name, plan, diagram),
            _legend(diagram),
            element("div", *below, _streams(plan, deviating), *_notes(plan), class_="below"),
            element("script", SCRIPT),
            "</body>",
            "</html>\n",
        )
    )


def _head(name: str, plan: Plan) -> str:
    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return element(
        "head",
        f"<meta{attributes(charset='utf-8')}>",
        f'<meta http-equiv="Content-Security-Policy"{attributes(content=policy)}>',
        f"<meta{attributes(name='viewport', content='width=device-width,initial-scale=1')}>",
        element("title", escaped_text(f"{name}: {outcome_text(plan)}")),
        element("style", _STYLE),
    )


def _header(name: str, graph: Graph, plan: Plan) -> str:
    rejected = plan.outcome is PlanOutcome.REJECTED
    chip = element(
        "a" if rejected else "span",
        escaped_text(outcome_text(plan)),
        class_=f"chip {plan.outcome}",
        href="#errors" if rejected else None,
    )
    about = element("span", escaped_text(summary(graph, plan)), class_="summary")
    return element("header", element("h1", escaped_text(name)), chip, about)


def _main(name: str, plan: Plan, diagram: Diagram) -> str:
    body, width, height = drawing(diagram, focusable=True)
    image = element(
        "svg",
        element("rect", class_="ground", width=width, height=height),
        body,
        class_="plan",
        role="group",
        aria_label=f"Graph of {name}: {plan.outcome}",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    )
    buttons = (
        ("out", "\N{MINUS SIGN}", "Smaller"),
        ("natural", "100%", "Natural size"),
        ("in", "+", "Larger"),
    )
    zoom = [
        element("button", escaped_text(sign), type="button", data_zoom=step, title=title)
        for step, sign, title in (*buttons, ("fit", "Fit", "Whole graph"))
    ]
    canvas = element("div", image, class_="canvas")
    stage = element("div", canvas, element("div", *zoom, class_="zoom"), class_="stage")
    # A fixed height: with the height of the shown groups, pointing at a node would move the node away.
    return element("main", stage, group_cards(plan, diagram), style=f"--high:{height + 60:.0f}px")


def _legend(diagram: Diagram) -> str:
    key, height = legend(diagram, _LEGEND_WIDTH)
    image = element(
        "svg",
        element("g", key, class_="legend", transform="translate(2,15)"),
        class_="plan",
        width=_LEGEND_WIDTH,
        height=height,
        role="img",
        aria_label="What the shapes and lines mean",
    )
    return element("div", image, class_="key")


def _errors(plan: Plan, diagram: Diagram) -> str:
    number_of = {
        node.name: number
        for number, node in enumerate(diagram.nodes)
        if node.shape in (Shape.OPERATOR, Shape.JOIN)
    }
    items = [_error(error, number_of.get(legible(error.operator or ""))) for error in plan.errors]
    return element("h2", "Errors", id="errors") + element("ol", *items, class_="errors")


def _error(error: PlanError, number: int | None) -> str:
    operator_markup = ""
    if error.operator is not None:
        shown = escaped_text(error.operator)
        operator_markup = (
            element("button", shown, type="button", data_show=number) if number is not None else shown
        )
    return element(
        "li",
        element("span", f"✗ {error.reason}", class_="reason"),
        operator_markup,
        element("p", escaped_text(error.message)),
        element("p", "→ ", escaped_text(error.hint)),
    )


def _notes(plan: Plan) -> list[str]:
    items = [element("li", escaped_text(note)) for note in plan.notes]
    return [element("h2", "Notes"), element("ul", *items)] if items else []


def _streams(plan: Plan, deviating: set[str]) -> str:
    heads = [element("th", title) for title in ("stream", "partitions", "role", "system", "source")]
    rows = [
        element(
            "tr",
            element("td", element("code", escaped_text(stream.name))),
            element("td", short_count(stream), class_="count"),
            element("td", ROLES[stream.role]),
            element("td", escaped_text(stream.system)),
            element("td", escaped_text(stream.because.sentence)),
            class_="odd" if stream.name in deviating else None,
        )
        for stream in plan.streams.values()
    ]
    return element("h2", "Streams") + element(
        "table", element("thead", element("tr", *heads)), element("tbody", *rows)
    )
