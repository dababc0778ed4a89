"""A real headless Chromium for tests of pages, from which nothing reaches the network."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

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
        missing = "no Chromium on this machine (Debian: apt-get install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
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
