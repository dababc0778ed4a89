"""How well texts of a page in a browser stand out from what lies below them."""

import re
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Locator

CONTRAST = 4.5
"""What the guidelines of the W3C ask of text at least."""


def poor_contrasts(texts: Locator, at_least: int) -> dict[str, float]:
    """The texts, of which there have to be some number, with less contrast than that, and their ratios."""
    contrasts = list(_contrasts(texts))
    assert len(contrasts) > at_least
    return {text: ratio for text, ratio in contrasts if ratio < CONTRAST}


def _contrasts(texts: Locator) -> Iterator[tuple[str, float]]:
    """Each text with the ratio of its colour to that of what lies below it."""
    colours: list[dict[str, Any]] = texts.evaluate_all(
        """elements => elements.filter((one) => one.offsetParent).map((one) => {
          let below = one;
          const clear = "rgba(0, 0, 0, 0)";
          while (below && getComputedStyle(below).backgroundColor === clear) below = below.parentElement;
          return { text: one.textContent, ink: getComputedStyle(one).color,
            ground: below ? getComputedStyle(below).backgroundColor : "rgb(255, 255, 255)" };
        })"""
    )
    for one in colours:
        lighter, darker = sorted((_luminance(one["ink"]), _luminance(one["ground"])), reverse=True)
        yield one["text"], (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
