"""One version everywhere, and a changelog that has it."""

import re
import tomllib
from typing import Final

import yaml

from tests.harness.repository.checkout import REPOSITORY

VERSION: Final[str] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["version"]
NAMES_A_VERSION: Final = re.compile(r"(?:VERSION=|streamapp-(?:operator|runtime):)(\d+\.\d+\.\d+)")
HEADING: Final = re.compile(r"^## (\d+\.\d+\.\d+) - (unreleased|\d{4}-\d{2}-\d{2})$")
KINDS: Final = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def changelog() -> list[str]:
    return (REPOSITORY / "CHANGELOG.md").read_text("utf-8").splitlines()


def test_the_chart_has_the_version_of_the_packages() -> None:
    chart = yaml.safe_load((REPOSITORY / "charts" / "streamapp" / "Chart.yaml").read_text("utf-8"))
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)


def test_pages_and_help_texts_name_images_of_this_version() -> None:
    pages = [*REPOSITORY.glob("docs/**/*.md"), REPOSITORY / "README.md"]
    named = {version for page in pages for version in NAMES_A_VERSION.findall(page.read_text("utf-8"))}
    assert named == {VERSION}


def test_the_newest_entry_of_the_changelog_is_of_this_version() -> None:
    headings = [line for line in changelog() if line.startswith("## ")]
    entries = [match.groups() for line in headings if (match := HEADING.match(line))]
    assert len(entries) == len(headings), headings
    assert entries[0][0] == VERSION
    assert all(date != "unreleased" for _, date in entries[1:])


def test_the_changelog_has_the_kinds_of_changes_that_readers_know() -> None:
    assert {line.removeprefix("### ") for line in changelog() if line.startswith("### ")} <= KINDS
