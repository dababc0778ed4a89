"""The page of a plan in a real browser: what a reader would see, measured."""

from itertools import combinations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from streamapp.graph.nodes import Graph
from streamapp.plan.planner import plan
from streamapp.plan.render.drawing import svg_document
from streamapp.plan.render.web_page import html_document
from tests.harness.graphs.conflicting_joins import eight_and_six
from tests.harness.graphs.graph_drawing import drawn, join, maps, reads
from tests.harness.graphs.shop_apps import shop
from tests.harness.machine.chromium import opened

pytestmark = pytest.mark.browser

RED = "rgb(207, 34, 46)"
DARK_RED = "rgb(255, 106, 99)"


def page_of(graph: Graph) -> str:
    return html_document.render("page-views", graph, plan(graph))


def node(page: Page, name: str, shape: str) -> Locator:
    return page.locator(f'.node.{shape}[data-name="{name}"]')


def style(found: Locator, name: str) -> str:
    value: str = found.evaluate("(element, name) => getComputedStyle(element)[name]", name)
    return value


def boxes(page: Page, selector: str) -> list[tuple[float, float, float, float]]:
    found: list[dict[str, float]] = page.locator(selector).evaluate_all(
        "elements => elements.map(element => element.getBoundingClientRect().toJSON())"
    )
    return [(box["left"], box["top"], box["right"], box["bottom"]) for box in found]


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("users", [8, 6], ids=["accepted", "rejected"])
@pytest.mark.parametrize("operators", [5, 30, 60])
def test_no_two_nodes_overlap_and_every_text_stays_in_its_node(
    browser: Browser, operators: int, users: int
) -> None:
    with opened(browser, page_of(shop(operators, users))) as (page, _):
        nodes = boxes(page, ".canvas .node")
        assert len(nodes) >= operators
        assert not [pair for pair in combinations(nodes, 2) if overlap(*pair)]
        outlines = boxes(page, ".canvas .node .outline")
        for box, name, kind in zip(
            outlines, boxes(page, ".canvas .node .name"), boxes(page, ".canvas .node .kind"), strict=True
        ):
            for text in (name, kind):
                assert box[0] < text[0]
                assert text[2] < box[2]
                assert box[1] < text[1]
                assert text[3] < box[3]


@pytest.mark.parametrize("operators", [5, 60])
def test_a_failing_join_is_in_view_red_and_marked(browser: Browser, operators: int) -> None:
    with opened(browser, page_of(shop(operators, users=6))) as (page, _):
        failing = node(page, "known", "join")
        expect(failing).to_be_in_viewport()
        assert style(failing.locator(".outline"), "stroke") == RED
        expect(failing.locator(".cross")).to_be_in_viewport()
        expect(failing.locator(".badge")).to_have_text("6 ≠ 8")
        for stream in ("users", "views"):
            disagreeing = node(page, stream, "stream")
            disagreeing.scroll_into_view_if_needed()
            expect(disagreeing).to_be_in_viewport()
            assert style(disagreeing.locator(".outline"), "stroke") == RED


def test_a_large_graph_keeps_a_size_that_can_be_read(browser: Browser) -> None:
    with opened(browser, page_of(shop(60))) as (page, _):
        left, top, right, bottom = boxes(page, '.node[data-name="matched-0"] .outline')[0]
        assert right - left >= 120
        assert bottom - top >= 45


def test_pointing_at_an_operator_shows_its_group_and_dims_the_rest(browser: Browser) -> None:
    with opened(browser, page_of(shop(12))) as (page, _):
        cards = page.locator(".group:visible")
        everything = cards.count()
        node(page, "known", "join").hover()
        expect(cards).to_have_count(1)
        assert everything > 1
        expect(cards.locator("h3")).to_have_text("known")
        assert cards.locator(".members code").all_inner_texts() == ["users", "views"]
        assert "from system main" in cards.inner_text()
        shown = page.locator(".canvas .node.on").evaluate_all("all => all.map(one => one.dataset.name)")
        assert sorted(shown) == ["known", "real", "users", "users", "views"]
        expect(node(page, "out", "operator")).to_have_css("opacity", "0.13")
        expect(node(page, "real", "operator")).to_have_css("opacity", "1")
        page.locator("h1").hover()
        expect(cards).to_have_count(everything)


def test_a_click_keeps_the_group_and_escape_lets_it_go(browser: Browser) -> None:
    with opened(browser, page_of(shop(12))) as (page, _):
        cards = page.locator(".group:visible")
        node(page, "known", "join").click()
        page.locator("h1").hover()
        expect(cards).to_have_count(1)
        page.keyboard.press("Escape")
        expect(cards).not_to_have_count(1)


def test_the_keyboard_reaches_a_node_and_shows_its_group(browser: Browser) -> None:
    with opened(browser, page_of(eight_and_six())) as (page, _):
        page.keyboard.press("Tab")  # the link to the errors
        page.keyboard.press("Tab")
        while page.evaluate("document.activeElement.dataset.name") != "joined":
            page.keyboard.press("Tab")
        expect(page.locator("main")).to_have_class("focused")
        expect(node(page, "joined", "join")).to_have_class("node join failing on pointed")


def test_an_operator_in_no_group_is_said_to_be_in_none(browser: Browser) -> None:
    with opened(browser, page_of(drawn(reads("a"), maps("m", "a")))) as (page, _):
        node(page, "m", "operator").hover()
        expect(page.get_by_text("In no group")).to_be_visible()


def test_an_error_leads_to_its_join(browser: Browser) -> None:
    with opened(browser, page_of(shop(60, users=6))) as (page, _):
        page.locator(".errors button", has_text="known").click()
        expect(node(page, "known", "join")).to_be_in_viewport()
        expect(page.locator(".group:visible h3")).to_have_text("known")


@pytest.mark.parametrize("operators", [5, 10, 60])
def test_a_drawing_opens_whole_as_long_as_it_can_be_read_then(browser: Browser, operators: int) -> None:
    with opened(browser, page_of(shop(operators))) as (page, _):
        size = "(({clientWidth, clientHeight, scrollWidth, scrollHeight, scrollLeft}) => "
        size += "[scrollWidth <= clientWidth && scrollHeight <= clientHeight, scrollLeft])"
        is_whole, left = page.evaluate(f"{size}(document.querySelector('.canvas'))")
        letters = page.locator(".canvas .name").first.evaluate("e => e.getBoundingClientRect().height")
        assert (is_whole, left) == (operators < 60, 0)
        assert letters > 6


def test_the_drawing_can_be_made_to_fit_and_to_have_its_size_again(browser: Browser) -> None:
    with opened(browser, page_of(shop(60))) as (page, _):
        width = "document.querySelector('.canvas svg').getBoundingClientRect().width"
        page.get_by_role("button", name="100%").click()
        natural = page.evaluate(width)
        page.get_by_role("button", name="Fit").click()
        fitted = page.evaluate(width)
        assert fitted <= page.evaluate("document.querySelector('.canvas').clientWidth") < natural
        page.get_by_role("button", name="100%").click()
        assert page.evaluate(width) == natural


def test_the_page_asks_the_network_for_nothing_and_reports_no_fault(browser: Browser) -> None:
    with opened(browser, "") as (page, asked):
        faults: list[str] = []
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.set_content(page_of(shop(30, users=6)))
        node(page, "known", "join").hover()
        page.wait_for_load_state("networkidle")
        assert asked == []
        assert faults == []


def test_dark_and_light_follow_the_reader(browser: Browser) -> None:
    text = page_of(eight_and_six())
    with opened(browser, text) as (light, _), opened(browser, text, dark=True) as (dark, _):
        assert style(light.locator("body"), "backgroundColor") == "rgb(255, 255, 255)"
        assert style(dark.locator("body"), "backgroundColor") == "rgb(13, 17, 23)"
        outline = ".node.join.failing .outline"
        assert style(light.locator(outline), "stroke") == RED
        assert style(dark.locator(outline), "stroke") == DARK_RED


def test_names_that_look_like_markup_are_text(browser: Browser) -> None:
    name = "<script>document.title='owned'</script>"
    graph = drawn(reads(name), reads("b"), join("<img src=x onerror=alert(1)>", name, "b"), counts={"b": 6})
    with opened(browser, page_of(graph)) as (page, asked):
        assert "owned" not in page.title()
        assert name in page.locator("table").inner_text()
        assert page.locator("img, body script").count() == 1  # the page's own
        assert asked == []


def test_the_drawing_alone_looks_the_same_as_an_image_of_its_own(browser: Browser) -> None:
    graph = shop(30, users=6)
    with opened(browser, svg_document.render("page-views", graph, plan(graph)), dark=True) as (page, asked):
        nodes = boxes(page, ".node")
        assert not [pair for pair in combinations(nodes, 2) if overlap(*pair)]
        assert style(node(page, "known", "join").locator(".outline"), "stroke") == DARK_RED
        assert style(page.locator(".ground"), "fill") == "rgb(13, 17, 23)"
        assert asked == []
