"""What a page shows as a file of this repository is that file."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOWN = [
    (page.name, name, block)
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for name, block in re.findall(
        r'^```\w+ title="(examples/[^"]+)"[^\n]*\n(.*?)^```$', page.read_text("utf-8"), re.M | re.S
    )
]


@pytest.mark.parametrize(("page", "name", "block"), SHOWN, ids=lambda value: str(value)[:40])
def test_a_file_on_a_page_is_the_one_in_the_repository(page: str, name: str, block: str) -> None:
    assert block == (ROOT / name).read_text("utf-8"), f"{page} shows another {name}"


def test_some_files_are_shown() -> None:
    assert SHOWN
