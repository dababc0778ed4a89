import json
import re

from hypothesis import given
from hypothesis import strategies as st

from streamapp.graph.nodes import Graph
from streamapp.plan.planner import plan
from streamapp.plan.render.forms import FORMS
from tests.harness.graphs.random_apps import apps
from tests.harness.graphs.shop_apps import shop
from tests.harness.graphs.svg_elements import parsed
from tests.harness.graphs.wild_graphs import NAMES, wild_graphs

_DOT_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z0-9_]+|->|[{}\[\];,=]|\s+')


def test_there_are_five_forms() -> None:
    assert set(FORMS) == {"text", "json", "dot", "svg", "html"}


@given(st.one_of(wild_graphs(), apps()), NAMES)
def test_any_graph_can_be_shown_in_every_form(graph: Graph, name: str) -> None:
    planned = plan(graph)
    shown = {form: render(name, graph, planned, False) for form, render in FORMS.items()}
    assert all(text.endswith("\n") for text in shown.values())
    assert json.loads(shown["json"])["outcome"] == planned.outcome
    assert parsed(shown["svg"]).tag == "svg"
    assert "".join(_DOT_TOKEN.findall(shown["dot"])) == shown["dot"]
    assert shown["html"].count("<script") == shown["html"].count("</script>") == 1
    assert "\x1b" not in shown["text"]


@given(apps())
def test_the_order_of_declaration_changes_nothing(graph: Graph) -> None:
    turned = Graph(
        dict(list(graph.operators.items())[::-1]),
        dict(list(graph.streams.items())[::-1]),
        dict(list(graph.tables.items())[::-1]),
    )
    for render in FORMS.values():
        assert render("app", graph, plan(graph), False) == render("app", turned, plan(turned), False)


def test_the_largest_app_that_a_cluster_takes_can_be_shown() -> None:
    graph = shop(512)
    planned = plan(graph)
    for render in FORMS.values():
        assert "matched-50" in render("shop", graph, planned, False)
