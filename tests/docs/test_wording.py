"""Phrases that no user's page needs: each has a word of the field in its place (decision 0055)."""

import re
from pathlib import Path

import pytest
from tests.harness.core.all_cases import all_cases

DOCS = Path(__file__).parents[2] / "docs"
REPOSITORY = DOCS.parent
PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "CHANGELOG.md",
    REPOSITORY / "SECURITY.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if "decisions" not in page.parts),
]
PHRASES = {
    "anew": "again, from scratch, restarted, recreated, rebuilt",
    "kept elsewhere": "external",
    "look after": "manage",
    "looks after": "manages",
    "looked after": "managed",
    "befell": "happened to",
    "befalls": "happens to",
    "one's own": "custom, user-defined",
    "is away": "is unavailable",
    "are away": "are unavailable",
    "mend": "fix",
    "mends": "fixes",
    "mended": "fixed",
    "taken up": "applied",
    "takes up": "applies",
    "goes on": "continues, keeps running, resumes",
    "went on": "continued",
    "nobody": "no user, no process; the passive",
    "somebody": "a user, another user; the passive",
    "is gone": "was deleted, has ended, expired",
    "are gone": "were deleted, have ended, expired",
    "has to stand": "is expected",
}
"""What a page may not say, and what it says instead."""


def prose(text: str) -> str:
    """The page without code, output, names of tests in italics, and targets of links."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"(?<!\*)\*[^*|]+\*(?!\*)", "", text)


def phrases_of(text: str) -> list[str]:
    words = re.sub(r"\s+", " ", prose(text)).lower()
    return [phrase for phrase in PHRASES if re.search(rf"\b{re.escape(phrase)}\b", words)]


def test_a_page_uses_the_words_of_the_field() -> None:
    with all_cases() as case:
        for page in PAGES:
            with case(page.relative_to(REPOSITORY)):
                assert {phrase: PHRASES[phrase] for phrase in phrases_of(page.read_text("utf-8"))} == {}


def test_prose_is_searched_and_code_is_not() -> None:
    assert phrases_of("It begins\nanew.") == ["anew"]
    assert phrases_of("```text\nbegins anew\n```\n`anew` and *a test made anew* and [a link](#begin-anew)") == []
