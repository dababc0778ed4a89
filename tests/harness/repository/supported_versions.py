"""The table of supported versions, as its page has it."""

import re

from tests.harness.repository.checkout import REPOSITORY


def supported_versions() -> dict[str, tuple[str, str]]:
    """The oldest and the newest version of each row of the page's table."""
    page = (REPOSITORY / "docs" / "guide" / "versions.md").read_text("utf-8")
    rows = re.findall(r"^\| ([A-Z][a-zA-Z ]+) \| ([\d.]+) \| ([\d.]+) \|$", page, re.M)
    return {name: (oldest, newest) for name, oldest, newest in rows}
