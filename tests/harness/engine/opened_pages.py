"""Pages of runs, opened in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from playwright.sync_api import Browser, Page, expect

from streamapp_runtime.driver.page.page_recorder import PageRecorder
from streamapp_runtime.driver.page.recent_lines import RecentLines
from tests.harness.engine.watched_pages import page_served


class RecordedRun(Protocol):
    """A run that is told to its page."""

    recorder: PageRecorder


@dataclass(slots=True)
class OpenedPage:
    """A page, and what it did that nobody sees."""

    page: Page
    url: str
    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@contextmanager
def watched(
    browser: Browser,
    run: RecordedRun,
    *,
    dark: bool = False,
    width: int = 1400,
    lines: RecentLines | None = None,
) -> Iterator[OpenedPage]:
    """The page of a run, once it has its first figures."""
    with page_served(run.recorder, lines=lines) as url:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        page = context.new_page()
        one = OpenedPage(page, url)
        page.on("request", lambda request: one.requests.append(request.url))
        page.on("console", lambda message: one.faults.append(message.text))
        page.on("pageerror", lambda error: one.faults.append(str(error)))
        page.goto(url)
        expect(page.locator("#state")).not_to_have_text("connecting")
        yield one
        context.close()
