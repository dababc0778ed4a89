"""One version everywhere, and a changelog that has it."""

import re
import tomllib
from typing import Any, Final

import pytest
import yaml

from tests.harness.kafka.jars import NEWEST
from tests.harness.machine.helm import KUBE
from tests.harness.machine.interpreters import OLDEST_JAVA, OLDEST_PYTHON
from tests.harness.repository.checkout import REPOSITORY
from tests.harness.repository.supported_versions import supported_versions

PROJECT: Final[dict[str, Any]] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
VERSION: Final[str] = PROJECT["version"]
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


@pytest.mark.usefixtures("process")
def test_the_page_of_versions_has_the_versions_that_are_declared_and_tested() -> None:
    table = supported_versions()
    chart = yaml.safe_load((REPOSITORY / "charts" / "streamapp" / "Chart.yaml").read_text("utf-8"))
    spark = next(each for each in PROJECT["optional-dependencies"]["runtime"] if each.startswith("pyspark"))
    assert PROJECT["requires-python"] == f">={table['Python'][0]}"
    assert table["Python"][0] == ".".join(map(str, OLDEST_PYTHON))
    assert table["Java"][0] == str(OLDEST_JAVA)
    assert spark.startswith(f"pyspark>={table['Spark'][0]},")
    assert NEWEST.startswith(f"{table['Kafka brokers'][1]}.")
    assert chart["kubeVersion"].startswith(f">={table['Kubernetes'][0]}.")
    assert KUBE.startswith(f"{table['Kubernetes'][1]}.")
