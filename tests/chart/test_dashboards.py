"""The dashboards ask for metrics that there are, by labels that those have."""

import json
import re
from typing import Any

import pytest

from tests.harness.machine.helm import CHART
from tests.harness.repository.prometheus_queries import LABELS, metric_names

BOARDS: dict[str, dict[str, Any]] = {
    file.stem: json.loads(file.read_text(encoding="utf-8")) for file in (CHART / "dashboards").glob("*.json")
}


def queries(board: str) -> list[str]:
    return [target["expr"] for panel in BOARDS[board]["panels"] for target in panel["targets"]]


@pytest.mark.parametrize("board", BOARDS)
def test_every_metric_is_on_the_dashboard_and_none_that_there_is_not(board: str) -> None:
    shown = {name for query in queries(board) for name in metric_names(query)}
    assert shown == set(LABELS[board]), (
        "tests/harness/repository/dashboard_panels.py says what is shown; then `make generate`"
    )


@pytest.mark.parametrize("board", BOARDS)
def test_lines_are_told_apart_by_labels_that_their_metrics_have(board: str) -> None:
    for query in queries(board):
        (name,) = metric_names(query)
        for by in re.findall(r"by \(([^)]*)\)", query):
            assert {label.strip() for label in by.split(",")} - {"", "le"} <= LABELS[board][name], query


def test_apps_of_one_name_in_two_namespaces_are_told_apart() -> None:
    for query in queries("apps"):
        assert all(by.startswith("namespace, app") for by in re.findall(r"by \(([^)]*)\)", query)), query


@pytest.mark.parametrize("board", BOARDS)
def test_a_counter_that_begins_above_zero_has_grown_by_all_of_it(board: str) -> None:
    assert not [query for query in queries(board) if "increase(" in query], "`increase` misses the first ones"


@pytest.mark.parametrize("board", BOARDS)
def test_legends_name_labels_that_their_queries_keep(board: str) -> None:
    for panel in BOARDS[board]["panels"]:
        for target in panel["targets"]:
            kept = {
                label.strip()
                for by in re.findall(r"by \(([^)]*)\)", target["expr"])
                for label in by.split(",")
            }
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= kept, panel["title"]


@pytest.mark.parametrize("board", BOARDS)
def test_no_two_panels_are_at_one_place(board: str) -> None:
    covered = [
        (x, y)
        for panel in BOARDS[board]["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(covered) == len(set(covered))
    assert max(x for x, _ in covered) < 24


def test_the_dashboards_are_two() -> None:
    assert set(BOARDS) == {"apps", "operator"}
    assert len({board["uid"] for board in BOARDS.values()}) == 2
