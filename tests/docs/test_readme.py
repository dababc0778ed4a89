"""What the front page shows of a cluster; its other commands run as those of all pages do."""

import re
from pathlib import Path

import yaml
from click.testing import CliRunner

from bench.__main__ import main as bench
from examples.example_deployment import deployable_names
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.status.phase import Phase

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def _commands(page: str) -> set[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)
    return {line for block in blocks for line in block.splitlines() if line.startswith(("helm ", "kubectl "))}


def test_the_table_of_apps_has_the_columns_of_the_definition() -> None:
    (table,) = re.findall(r"^```text\n(NAME .*?)^```$", README, re.M | re.S)
    heads, cells = (line.split() for line in table.splitlines())
    definition = yaml.safe_load((ROOT / "crds/streamapps.streamapp.dev.yaml").read_text("utf-8"))
    columns = definition["spec"]["versions"][0]["additionalPrinterColumns"]
    assert heads == ["NAME", *(column["name"].upper() for column in columns if not column.get("priority"))]
    assert len(cells) == len(heads)
    row = dict(zip(heads, cells, strict=True))
    assert Phase(row["PHASE"])
    assert row["READY"] in ("True", "False", "Unknown")
    assert ConditionReason(row["REASON"])


def test_it_installs_and_applies_as_the_quickstart_does() -> None:
    quickstart = _commands((ROOT / "docs/quickstart.md").read_text("utf-8"))
    assert {command for command in _commands(README) if "get" not in command} <= quickstart


def test_its_links_lead_to_files_of_the_repository() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_every_bench_that_it_names_is_one() -> None:
    commands = re.findall(r"`python -m bench ([^`]+)`", README)
    assert len(commands) > 1
    for names in map(str.split, commands):
        listed = CliRunner().invoke(bench, [*names, "--list"])
        assert listed.exit_code == 0
        assert [line.split()[0] for line in listed.stdout.splitlines()] == names


def test_every_target_that_it_names_is_in_the_list_of_targets() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = set(re.findall(r"(?:^|`)make ([a-z0-9-]+)", README, re.M))
    assert {"demo", "test"} <= named <= targets | {"help"}


def test_every_example_that_it_deploys_can_be_deployed() -> None:
    (name,) = re.findall(r"`python -m examples deploy ([a-z-]+)`", README)
    assert name in deployable_names()


COSTS = (ROOT / "docs/guide/what-a-failure-costs.md").read_text("utf-8")
FAULTS = {
    "when executors are lost": (
        "the Python workers of an executor are killed",
        "the JVM of an executor is killed",
        "the pod of an executor is deleted",
        "ten executors are killed, each when all work again",
    ),
    "for an edit that needs another driver": ("an edit needs another driver",),
    "when the node of the driver is drained": ("the node of the driver is drained, with executors on it",),
    "when the driver is killed": ("the driver is killed",),
    "when it is with `driver.standbyExecutors`": ("the driver is killed, with `driver.standbyExecutors`",),
    "when the driver hangs": ("the driver hangs (SIGSTOP)",),
    "when the node of the driver loses its power": ("the node of the driver loses its power",),
}
"""What the front page calls faults, by the rows of the table that it sums up."""


def _worst_partitions() -> list[tuple[str, list[float]]]:
    """Each fault of the table, with the seconds that the worst partition stopped in its runs."""
    (table,) = re.findall(r"^\| \| Whole app \| Worst partition \|\n\|[-| ]+\n(.*?)\n\n", COSTS, re.M | re.S)
    rows = (row.strip("| ").split(" | ") for row in table.splitlines())
    return [(name, [float(seconds) for seconds in worst.split(", ")]) for name, _, worst in rows]


def test_its_figures_of_faults_are_those_of_the_table() -> None:
    faults, text = _worst_partitions(), " ".join(README.split())
    assert f"`make e2e TESTS=gaps` makes {len(faults)} faults" in text
    seconds = dict(faults)
    for words, rows in FAULTS.items():
        runs = [figure for row in rows for figure in seconds[row]]
        least, most = min(runs), max(runs)
        figures = f"{most:.1f} s" if least == most else f"{least:.1f} to {most:.1f} s"
        assert re.search(rf"\b{re.escape(figures)} {re.escape(words)}[,.]", text), f"{figures} {words}"
    sentence = text.partition("`make e2e TESTS=gaps`")[2].partition("[Cost of failures]")[0]
    assert len(re.findall(r"[0-9.]+ s\b", sentence)) == len(FAULTS), "a figure has no row"
