"""A real headless Chromium for tests of pages, from which nothing reaches the network."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from tests.harness.machine.left_out import leave_out

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """The machine's Chromium; without one the test is skipped, but never where it has to run."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        leave_out("no Chromium on this machine (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_QUIET)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, html: str, *, dark: bool = False) -> Iterator[tuple[Page, list[str]]]:
    """A page of this text, and the addresses it asks for."""
    context = browser.new_context(
        viewport={"width": 1400, "height": 900}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(html)
    yield page, asked
    context.close()
