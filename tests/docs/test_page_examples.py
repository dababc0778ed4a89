import json
import re
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from streamapp.author.start_problems import start_problems
from streamapp.spec.resource.operators import Operator
from streamapp.spec.parser import parse

PAGES = sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))
BLOCKS = [
    (page, block)
    for page in PAGES
    for block in re.findall(r"^```yaml[^\n]*\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
]
APPS = [(page, block) for page, block in BLOCKS if re.search(r"^kind: StreamApp$", block, re.M)]
OPERATORS = [
    (page, block) for page, block in BLOCKS if re.match(r"operators:|- \{name: [\w-]+, +\w+: +\{", block)
]


@pytest.mark.parametrize(("page", "block"), APPS, ids=lambda value: getattr(value, "name", ""))
def test_a_whole_app_on_a_page_has_nothing_wrong(page: Path, block: str) -> None:
    """Unless it is there to be refused, and the page shows how."""
    parsed = parse(block)
    assert parsed.problems == ()
    problems = [problem for app in parsed.apps for problem in start_problems(app)]
    shown = page.read_text("utf-8")
    assert [problem for problem in problems if problem.message not in shown] == []


@pytest.mark.parametrize(("page", "block"), OPERATORS, ids=lambda value: getattr(value, "name", ""))
def test_an_operator_on_a_page_is_one(page: Path, block: str) -> None:
    entries = yaml.safe_load(block)
    listed = entries["operators"] if isinstance(entries, dict) else entries
    for operator in TypeAdapter(list[Operator]).validate_json(json.dumps(listed)):
        assert operator.kind in Operator.kinds()


def test_every_kind_of_operator_has_an_example() -> None:
    shown = " ".join(block for _, block in OPERATORS)
    assert [kind for kind in Operator.kinds() if f"{kind}:" not in shown] == []
