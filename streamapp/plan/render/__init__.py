"""How a plan is shown: `FORMS` has a function for each form, from app name, graph and plan to a text."""

from collections.abc import Callable, Mapping

from streamapp.graph.nodes import Graph
from streamapp.plan.plan import Plan
from streamapp.plan.render import document, dot, html, svg, text

Form = Callable[[str, Graph, Plan, bool], str]


def _uncoloured(render: Callable[[str, Graph, Plan], str]) -> Form:
    return lambda name, graph, plan, _colour: render(name, graph, plan)


FORMS: Mapping[str, Form] = {
    "text": text.render,
    "json": _uncoloured(document.render),
    "dot": _uncoloured(dot.render),
    "svg": _uncoloured(svg.render),
    "html": _uncoloured(html.render),
}
"""The last argument, whether to colour for a terminal, only means something to text."""
