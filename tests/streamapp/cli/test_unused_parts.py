"""What an app names and does not use is said by `check` and `plan`, and refuses nothing."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

APP = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: slips, namespace: shop}
spec:
  systems: [{name: main, embedded: {path: data}}]
  streams:
    - {name: views, system: main, key: user, columns: "user STRING, page STRING"}
    - {name: rates, system: main, key: user, columns: "user STRING"}
    - {name: dead, system: main}
    - {name: out, system: main}
  tables:
    - {name: last, columns: "user STRING, page STRING"}
  onBadRecord: {action: deadLetter, stream: dead}
  operators:
    - {name: real, filter: {from: views, where: "page <> '/health'"}}
    - {name: forgotten, map: {from: real, select: "user"}}
    - {name: counted, process: {from: real, python: "json:JSONDecoder", columns: "user STRING"}}
    - {name: by-page, partitionBy: {from: real, key: page}}
    - {name: sent, sendTo: {from: real, stream: out}}
"""
WARNINGS = {
    "spec.operators[1].map": 'the rows of "forgotten" go nowhere: no operator reads it; '
    "send them to a stream or a table, or take it away",
    "spec.tables[0]": 'no operator uses the table "last"; join with it, or take it away',
    "spec.streams[1]": 'nothing reads or writes the stream "rates"; use it, or take it away',
}


@pytest.fixture
def slips(tmp_path: Path) -> Path:
    file = tmp_path / "app.yaml"
    file.write_text(APP)
    return file


def test_check_warns_with_line_path_and_mend_and_nothing_is_wrong(run: Run, slips: Path) -> None:
    result = run("check", slips)
    assert (result.exit_code, result.stdout) == (
        0,
        "shop/slips: 4 streams, 1 table, 5 operators: valid, 3 warnings\n",
    )
    lines = dict(zip(WARNINGS, (17, 13, 9), strict=True))
    assert result.stderr.splitlines() == [
        f"{slips}: warning: line {lines[path]}: {path}: {message}" for path, message in WARNINGS.items()
    ]


def test_a_plan_has_the_warnings_among_its_notes_and_is_accepted(run: Run, slips: Path) -> None:
    counts = ["--set", "views=2", "--set", "rates=2"]
    result = run("plan", slips, *counts, "-o", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["notes"] == [f"{path}: {message}" for path, message in WARNINGS.items()]
    text = " ".join(run("plan", slips, *counts).stdout.split())
    assert all(f"{path}: {message}" in text for path, message in WARNINGS.items())


COPIED = """
    - {name: whole, broadcast: {from: views}}
    - {name: chosen, map: {from: whole, select: "user, page"}}
    - {name: by-page-of-all, partitionBy: {from: chosen, key: page}}
    - {name: met, join: {from: [real, whole], within: 1m, time: arrival, select: "left.user"}}
    - {name: written, sendTo: {from: met, stream: out}}
"""


def test_rows_that_every_task_has_are_written_once_per_task(run: Run, slips: Path) -> None:
    slips.write_text(APP + COPIED.lstrip("\n"))
    lines = run("check", slips).stderr.splitlines()
    assert [line for line in lines if "once per task" in line] == [
        f'{slips}: warning: line 23: spec.operators[7].partitionBy: every task has all rows of "chosen" and '
        "writes them, so that each comes once per task; take the rows from before the broadcast, or join "
        "them with rows that tasks divide"
    ]
    slips.write_text((APP + COPIED.lstrip("\n")).replace("spec:\n", "spec:\n  grouper: single\n", 1))
    assert "once per task" not in run("check", slips).stderr


def test_an_app_that_uses_all_that_it_names_has_no_warnings(run: Run, example: Callable[[str], Path]) -> None:
    folder = example("page-views")
    result = run("plan", folder / "app.yaml", "--catalog", folder / "topics.yaml", "-o", "json")
    assert json.loads(result.stdout)["notes"] == []
