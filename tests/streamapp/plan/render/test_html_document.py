import re
from base64 import b64encode
from hashlib import sha256

from streamapp.graph.nodes import Graph
from streamapp.plan.planner import plan
from streamapp.plan.render.web_page import html_document
from tests.harness.graphs.conflicting_joins import eight_and_six
from tests.harness.graphs.graph_drawing import drawn, maps, reads


def page(graph: Graph) -> str:
    return html_document.render("page-views", graph, plan(graph))


def test_the_page_lets_no_script_run_but_its_own_and_loads_nothing() -> None:
    shown = page(eight_and_six())
    (script,) = re.findall(r"<script>(.*?)</script>", shown, re.DOTALL)
    named = b64encode(sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{named}'" in shown
    assert not re.search(r"(?:src|href)=\"(?!#)|url\(|@import", shown)


def test_each_group_holds_its_join_its_streams_and_what_lies_between() -> None:
    shown = page(eight_and_six())
    names = dict(re.findall(r'data-node="(\d+)" data-name="([^"]*)"', shown))
    ((join, members),) = re.findall(r'data-join="(\d+)" data-members="([\d ]+)"', shown)
    assert names[join] == "joined"
    assert sorted(names[number] for number in members.split()) == [
        "joined",
        "real",
        "users",
        "users",
        "views",
    ]


def test_errors_are_listed_below_the_drawing_with_what_mends_them() -> None:
    below = page(eight_and_six()).split("</main>")[1]
    assert "JoinPartitionMismatch" in below
    assert "users has 6; views has 8" in below
    assert "→ repartition views" in below


def test_an_accepted_plan_lists_no_errors() -> None:
    assert '<h2 id="errors">' not in page(drawn(reads("a"), maps("m", "a")))


def test_a_name_that_looks_like_markup_is_text() -> None:
    shown = page(drawn(reads("</script><script>alert(1)</script>")))
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)" in shown
