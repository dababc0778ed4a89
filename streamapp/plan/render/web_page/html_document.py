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
from streamapp.plan.render.drawing import svg_style
from streamapp.plan.render.drawing.legend import legend
from streamapp.plan.render.drawing.markup import attributes, element, escaped_text
from streamapp.plan.render.drawing.svg_document import drawing
from streamapp.plan.render.drawing.theme import MONO, SANS, variables
from streamapp.plan.render.web_page.group_cards import group_cards, short_count
from streamapp.plan.render.web_page.page_script import SCRIPT
from streamapp.plan.render.wording import ROLES, field_place, legible, outcome_text, summary

PAGE_STYLE = f"""
*{{box-sizing:border-box}}
body{{margin:0;background:var(--ground);color:var(--ink);font:14px/1.5 {SANS}}}
header{{display:flex;flex-wrap:wrap;align-items:center;gap:6px 14px;padding:18px 28px 14px}}
h1{{font-size:21px;margin:0;overflow-wrap:anywhere}}
h2{{font-size:15px;margin:0 0 10px}}
.summary{{color:var(--muted)}}
.chip{{padding:2px 12px;border-radius:99px;font-weight:650;color:var(--on-line);background:var(--good);
text-decoration:none}}
.chip.rejected{{background:var(--fail)}}
main{{display:grid;grid-template:minmax(0,1fr)/minmax(0,1fr) 330px;height:clamp(400px,var(--high),76vh);
border-block:1px solid var(--border)}}
.stage{{position:relative;min-width:0;min-height:0}}
.canvas{{display:grid;overflow:auto;height:100%;cursor:grab}}
.canvas.dragged{{cursor:grabbing;user-select:none}}
.canvas svg{{display:block;margin:auto}}
.zoom{{position:absolute;right:14px;bottom:14px;display:flex;border:1px solid var(--border);border-radius:8px;
overflow:hidden;background:var(--panel)}}
.zoom button{{border:0;background:none;color:var(--ink);font:inherit;padding:4px 11px;cursor:pointer}}
.zoom button:hover{{background:var(--border)}}
aside{{border-left:1px solid var(--border);background:var(--panel);padding:16px;
overflow:auto}}
main.wide{{grid-template:minmax(0,1fr) 150px/minmax(0,1fr);height:clamp(400px,var(--high) + 150px,82vh)}}
.wide aside{{border-left:0;border-top:1px solid var(--border)}}
.advice{{color:var(--muted);margin:0 0 12px}}
.group{{background:var(--ground);border:1px solid var(--border);border-left:4px solid var(--join-line);
border-radius:8px;padding:10px 12px;margin:0 0 10px;cursor:pointer}}
.group.failing{{border-left-color:var(--fail)}}
.group h3{{margin:0;font:600 13px {MONO};overflow-wrap:anywhere}}
.group .what{{color:var(--muted);font-size:12px;margin:0 0 6px}}
.group .what b{{color:var(--good)}}
.group.failing .what b{{color:var(--fail)}}
.members{{list-style:none;margin:0;padding:0;display:grid;grid-template-columns:auto 1fr;gap:4px 10px}}
.members li{{display:contents}}
.count{{font-weight:700;font-variant-numeric:tabular-nums;text-align:right}}
.members .odd .count,.members .odd code{{color:var(--fail)}}
code{{font-family:{MONO};font-size:12.5px;overflow-wrap:anywhere}}
.because{{display:block;color:var(--muted);font-size:12px}}
.below{{padding:20px 28px;max-width:1180px}}
.key{{padding:8px 28px;border-bottom:1px solid var(--border);overflow:auto}}
.key svg{{display:block}}
.errors{{list-style:none;margin:0 0 26px;padding:0}}
.errors li{{border-left:4px solid var(--fail);background:var(--fail-ground);border-radius:6px;
padding:10px 14px;margin:0 0 10px}}
.errors p{{margin:4px 0 0;overflow-wrap:anywhere}}
.reason{{font-weight:650;color:var(--fail)}}
.errors button{{font:600 12.5px {MONO};color:var(--ink);background:none;border:1px solid var(--fail);
border-radius:6px;padding:1px 8px;margin-left:8px;cursor:pointer}}
table{{border-collapse:collapse}}
th{{text-align:left;font-weight:600;color:var(--muted);font-size:12px}}
th,td{{padding:5px 22px 5px 0;border-bottom:1px solid var(--border);vertical-align:top}}
td.count,th:nth-child(2){{text-align:right}}
tr.odd code,tr.odd .count{{color:var(--fail);font-weight:700}}
.plan .node{{cursor:pointer;outline:none}}
.plan .node,.plan .edge,.plan .label{{transition:opacity .12s}}
.focused .plan .node:not(.on),.focused .plan .edge:not(.on),.focused .plan .label:not(.on){{opacity:.13}}
.plan .node.pointed .outline,.plan .node:focus-visible .outline{{stroke-width:4}}
[hidden]{{display:none!important}}
:focus-visible{{outline:2px solid var(--stream-line);outline-offset:2px}}
@media (max-width:1000px){{main{{grid-template:minmax(0,2fr) minmax(0,1fr)/minmax(0,1fr);
height:92vh}}aside{{border-left:0;border-top:1px solid var(--border)}}}}
@media (prefers-reduced-motion:reduce){{.plan .node,.plan .edge,.plan .label{{transition:none}}}}
@media print{{.zoom,.advice{{display:none}}main{{display:block;height:auto}}}}
""".strip()


_LEGEND_WIDTH = 1200
_STYLE = variables(":root") + PAGE_STYLE + svg_style.STYLE


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
        element("p", element("code", escaped_text(field_place(error)))) if error.path else "",
        element("p", escaped_text(error.message)),
        element("p", "→ ", escaped_text(error.hint)) if error.hint else "",
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
