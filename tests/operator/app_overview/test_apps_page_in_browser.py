"""The page of all apps in a real browser."""

import pytest
from playwright.sync_api import Browser, Page, expect

from streamapp_operator.controller.client.resource_kinds import STREAM_APP
from streamapp_operator.controller.watch.object_cache import ObjectCache
from tests.harness.machine.text_contrast import poor_contrasts
from tests.harness.operator.overview_apps import (
    apps_page_served,
    condition,
    overview_app,
    overview_cache,
)

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def some_apps() -> ObjectCache:
    """One app of each kind of attention."""
    mismatch = condition("Stalled", "True", "JoinPartitionMismatch", f"views has 8 partitions {HOSTILE}")
    killed = condition("Degraded", "True", "OutOfMemory", "processor-1 was killed for its memory")
    return overview_cache(
        overview_app("page-views", "Running"),
        overview_app("country-views", "Running", killed, reason="OutOfMemory", restarts=3),
        overview_app("fraud", "Rejected", mismatch, reason="JoinPartitionMismatch", namespace="risk"),
        overview_app("nightly", "Completed", condition("Ready", "False", "Completed"), namespace="risk"),
    )


def names(page: Page) -> list[str]:
    return page.locator("#apps tbody tr:visible td:first-child").all_inner_texts()


def opened(browser: Browser, url: str, *, dark: bool = False, width: int = 1400) -> tuple[Page, list[str]]:
    """The page, and what it did that nobody sees."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
    )
    page, faults = context.new_page(), []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda one: faults.append(one.url) if not one.url.startswith((url, "data:")) else None)
    page.goto(url)
    expect(page.locator("#state")).not_to_have_text("connecting")
    return page, faults


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_what_wants_attention_is_first_and_nothing_is_asked_of_another_host(
    browser: Browser, dark: bool
) -> None:
    with apps_page_served(some_apps()) as url:
        page, faults = opened(browser, url, dark=dark)
        assert names(page) == ["fraud", "country-views", "page-views", "nightly"]
        expect(page.locator("#counts button")).to_have_text(
            ["1 failed", "1 waiting", "1 running", "1 resting"]
        )
        assert page.title() == "1 failed: StreamApps"
        page.locator("#apps tbody tr").first.click()
        expect(page.locator("#conditions tbody tr")).to_have_count(10)
        texts = page.locator("h1, h2, h3, #state, button, th, td:not(:empty), dt, dd, pre, label")
        assert poor_contrasts(texts, at_least=50) == {}
        assert faults == []
        page.context.close()


def test_messages_that_look_like_markup_are_text(browser: Browser) -> None:
    with apps_page_served(some_apps()) as url:
        page, faults = opened(browser, url)
        page.locator("#apps tbody tr").first.click()
        expect(page.locator("#conditions td", has_text="JoinPartitionMismatch")).to_be_visible()
        expect(page.locator("#conditions td.text", has_text="views has 8")).to_contain_text(HOSTILE)
        assert page.locator("main img").count() == 0
        assert (page.title(), faults) == ("1 failed: StreamApps", [])
        page.context.close()


def test_an_app_that_changes_comes_and_goes_without_another_load(browser: Browser) -> None:
    cache = some_apps()
    with apps_page_served(cache) as url:
        page, _ = opened(browser, url)
        late = overview_app("late", "Failed", condition("Ready", "False", "RestartsUsedUp"))
        cache.put(STREAM_APP, late)
        expect(page.locator("#counts button").first).to_have_text("2 failed", timeout=20_000)
        cache.delete(STREAM_APP, late)
        expect(page.locator("#counts button").first).to_have_text("1 failed", timeout=20_000)
        page.context.close()


def test_the_keyboard_filters_chooses_and_gives_all_back(browser: Browser) -> None:
    with apps_page_served(some_apps()) as url:
        page, _ = opened(browser, url)
        page.keyboard.press("/")
        page.keyboard.type("killed")  # in no name, no reason
        assert names(page) == []
        page.locator("#filter").fill("outofm")
        assert names(page) == ["country-views"]
        page.locator("#apps tbody tr:visible").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#details-title")).to_have_text("shop/country-views")
        expect(page.locator("#commands")).to_contain_text("streamapp why country-views --namespace shop")
        page.keyboard.press("Escape")
        expect(page.locator("#details")).to_be_hidden()
        assert len(names(page)) == 4
        page.locator('[data-attention="resting"]').click()
        assert names(page) == ["nightly"]
        page.context.close()


def test_the_order_is_the_readers(browser: Browser) -> None:
    with apps_page_served(some_apps()) as url:
        page, _ = opened(browser, url)
        page.locator("#order").select_option("restarts")
        assert names(page)[0] == "country-views"
        page.locator("#order").select_option("name")
        assert names(page) == ["fraud", "nightly", "country-views", "page-views"]  # by namespace first
        page.context.close()


@pytest.mark.parametrize("width", [400, 1400])
def test_a_thousand_apps_can_be_read_and_the_page_is_no_wider_than_its_window(
    browser: Browser, width: int
) -> None:
    apps = [
        overview_app(f"app-{number}", "Running", namespace=f"team-{number % 40}") for number in range(1000)
    ]
    with apps_page_served(overview_cache(*apps)) as url:
        page, faults = opened(browser, url, width=width)
        expect(page.locator("#apps tbody tr")).to_have_count(1000)
        page.locator("#filter").fill("team-7/")
        expect(page.locator("#apps tbody tr:visible")).to_have_count(25)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert faults == []
        page.context.close()


def test_a_server_that_is_gone_is_said_to_be(browser: Browser) -> None:
    with apps_page_served(some_apps()) as url:
        page, _ = opened(browser, url)
    expect(page.locator("#state")).to_have_text("no answer", timeout=20_000)
    expect(page.locator("#alerts li.lost")).to_be_visible()
    page.context.close()
