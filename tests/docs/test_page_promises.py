import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROMISES = {
    "test-coverage.md": "## Everything at once",
    "trust-model.md": "## In short",
}
"""The pages that name tests, and where they begin to."""
TESTS = {"trust-model.md": "tests"}
"""Where the tests are, if not below those of the runtime."""


def named(page: str) -> list[str]:
    text = (ROOT / "docs/guide" / page).read_text("utf-8")
    return sorted(set(re.findall(r"(?<!\*)\*([a-z][^*|]+)\*(?!\*)", text[text.index(PROMISES[page]) :])))


@pytest.mark.parametrize("page", PROMISES)
def test_a_page_of_promises_names_tests(page: str) -> None:
    assert len(named(page)) > 10


@pytest.mark.parametrize("page", PROMISES)
def test_every_promise_names_a_test_that_is_there(page: str) -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / TESTS.get(page, "tests/runtime")).rglob("*.py"))
    there = set(re.findall(r"def test_(\w+)\(", code))
    assert [name for name in named(page) if re.sub(r"\W+", "_", name) not in there] == []
