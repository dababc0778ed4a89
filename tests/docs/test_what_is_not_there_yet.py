"""What the pages call not there yet is what the product refuses, and nothing else is called so."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from streamapp.author.not_supported import not_supported
from streamapp.spec.parser import parse_data
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from tests.harness.core.all_cases import all_cases

DOCS = Path(__file__).parents[2] / "docs"
SECTION = "what-is-not-there-yet"


def _app(**changes: Any) -> StreamApp:
    spec: dict[str, Any] = {
        "systems": [{"name": "main", "kafka": {"bootstrapServers": "broker:9092"}}],
        "streams": [{"name": "views", "system": "main"}, {"name": "out", "system": "main"}],
        "operators": [{"name": "sink", "sendTo": {"from": "views", "stream": "out"}}],
    }
    parsed = parse_data(
        {
            "apiVersion": "streamapp.dev/v1alpha1",
            "kind": "StreamApp",
            "metadata": {"name": "a"},
            "spec": spec | changes,
        }
    )
    assert not parsed.problems
    return parsed.apps[0]


def _standbys() -> tuple[Problem, ...]:
    return tuple(not_supported(_app(placement={"standbys": 1})))


REFUSALS: Mapping[str, tuple[Callable[[], tuple[Problem, ...]], int]] = {
    "Standby copies": (_standbys, 1),
}
"""What the list begins each of its entries with, who refuses it, and how many fields say it."""


def _listed() -> list[str]:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    section = text.partition("## What is not there yet\n")[2].partition("\n## ")[0]
    return re.findall(r"^- \*\*(.+?)\*\*", section, re.M)


def test_every_entry_of_the_list_is_one_that_is_refused() -> None:
    assert _listed() == list(REFUSALS)


@pytest.mark.parametrize("entry", REFUSALS)
def test_what_is_not_there_yet_is_refused_with_its_path(entry: str) -> None:
    refuse, fields = REFUSALS[entry]
    problems = [problem for problem in refuse() if problem.reason is Reason.NOT_YET_SUPPORTED]
    assert len({problem.path for problem in problems}) == fields
    assert all("not yet supported" in problem.message for problem in problems)


def test_pages_call_nothing_else_not_there_yet() -> None:
    """Consoles show refusals of the product, which a test runs; other words of it lead to the list."""
    with all_cases() as case:
        for page in sorted(DOCS.rglob("*.md")):
            prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
            lines = [line for line in prose.splitlines() if "not there yet" in line.lower()]
            with case(page.relative_to(DOCS)):
                listed = [line for line in lines if SECTION in line or "## What is not there yet" in line]
                assert lines == listed
