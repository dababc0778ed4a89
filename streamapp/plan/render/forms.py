"""The forms of a plan: `FORMS` has a function for each form, from app name, graph and plan to a text.

A form is imported when it is asked for: the drawing takes longer to import than most plans to make.
"""

from collections.abc import Callable, Mapping

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan

Form = Callable[[str, Graph, Plan, bool], str]


def _text(name: str, graph: Graph, plan: Plan, colour: bool) -> str:
    from streamapp.plan.render.terminal import plan_text

    return plan_text.render(name, graph, plan, colour)


def _json(name: str, graph: Graph, plan: Plan, _colour: bool) -> str:
    from streamapp.plan.render import json_document

    return json_document.render(name, graph, plan)


def _dot(name: str, graph: Graph, plan: Plan, _colour: bool) -> str:
    from streamapp.plan.render import dot

    return dot.render(name, graph, plan)


def _svg(name: str, graph: Graph, plan: Plan, _colour: bool) -> str:
    from streamapp.plan.render.drawing import svg_document

    return svg_document.render(name, graph, plan)


def _html(name: str, graph: Graph, plan: Plan, _colour: bool) -> str:
    from streamapp.plan.render.web_page import html_document

    return html_document.render(name, graph, plan)


FORMS: Mapping[str, Form] = {
    "text": _text,
    "json": _json,
    "dot": _dot,
    "svg": _svg,
    "html": _html,
}
"""The last argument of each function, whether to colour for a terminal, has an effect only for text."""
