"""Pictures of live pages for the documentation, in light and in dark."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page

from tests.harness.machine.chromium import chromium

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")


def take_pictures(
    url: str,
    name: str,
    *,
    height: int,
    prepare: Callable[[Page], None],
    schemes: Sequence[Literal["light", "dark"]] = SCHEMES,
    whole: bool = True,
) -> None:
    """Take a picture in each colour scheme of the page that `prepare` has brought to where it tells most.

    It is one of the whole page, or of what its window shows.
    """
    with chromium() as browser:
        for scheme in schemes:
            page = browser.new_page(viewport={"width": 1280, "height": height}, color_scheme=scheme)
            page.goto(url)
            prepare(page)
            page.screenshot(path=PICTURES / f"{name}-{scheme}.png", full_page=whole)
            page.close()
