"""The browser of a module's tests."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A headless Chromium. Its client is imported by those alone who need it."""
    from tests.harness.machine.chromium import chromium

    with chromium() as browser:
        yield browser
