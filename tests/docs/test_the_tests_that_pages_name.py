import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guide/engine.md").read_text("utf-8")
PROMISES = PAGE[PAGE.index("## What is promised") :]
NAMED = sorted(set(re.findall(r"(?<!\*)\*([a-z][^*|]+)\*(?!\*)", PROMISES)))


def test_the_page_of_promises_names_tests() -> None:
    assert len(NAMED) > 10


def test_every_promise_names_a_test_that_is_there() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests/engine").rglob("*.py"))
    there = set(re.findall(r"def test_(\w+)\(", code))
    assert [name for name in NAMED if re.sub(r"\W+", "_", name) not in there] == []
