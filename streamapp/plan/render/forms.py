"""The forms of a plan: `FORMS` has a function for each form, from app name, graph and plan to a text."""

from collections.abc import Callable, Mapping

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan
from streamapp.plan.render import dot, json_document
from streamapp.plan.render.drawing import svg_document
from streamapp.plan.render.terminal import plan_text
from streamapp.plan.render.web_page import html_document

Form = Callable[[str, Graph, Plan, bool], str]


def _uncoloured(render: Callable[[str, Graph, Plan], str]) -> Form:
    return lambda name, graph, plan, _colour: render(name, graph, plan)


FORMS: Mapping[str, Form] = {
    "text": plan_text.render,
    "json": _uncoloured(json_document.render),
    "dot": _uncoloured(dot.render),
    "svg": _uncoloured(svg_document.render),
    "html": _uncoloured(html_document.render),
}
"""The last argument of each function, whether to colour for a terminal, has an effect only for text."""
