"""`python -m bench`: names, groups, figures as JSON, and an end in between."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.__main__ import MEASURED, _fields, main
from bench.row import Aim, Compared, Row
from tests.harness.repository.checkout import REPOSITORY


def test_every_bench_is_listed_with_what_it_measures() -> None:
    lines = CliRunner().invoke(main, ["--list"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(MEASURED)
    assert all(len(line.split(maxsplit=1)[1]) > 20 for line in lines)


def test_a_group_is_all_its_benches_in_their_order() -> None:
    lines = CliRunner().invoke(main, ["kafka", "wire", "--list"]).stdout.splitlines()
    named = [line.split()[0] for line in lines]
    assert named == [name for name in MEASURED if name == "wire" or name.startswith("kafka.")]


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    refused = CliRunner().invoke(main, ["engine.lane"])
    assert refused.exit_code == 2
    assert 'no bench "engine.lane"; did you mean "engine.lanes"?' in refused.stderr


@pytest.mark.usefixtures("process")
def test_figures_are_written_as_json_too(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    printed = CliRunner().invoke(main, ["command", "--json", str(file)])
    figures = json.loads(file.read_text())
    assert figures
    assert {figure["bench"] for figure in figures} == {"command"}
    for figure in figures:
        assert figure["name"] in printed.stdout
        assert figure["value"] > 0
        assert figure["comparedWith"]["name"] == "python -c pass"
        assert figure["ratio"] == pytest.approx(figure["value"] / figure["comparedWith"]["value"])
        assert f"{figure['ratio']:,.3g} times python -c pass" in printed.stdout
    assert printed.exit_code == any(figure["missed"] for figure in figures)


def test_a_pattern_is_all_that_it_fits() -> None:
    lines = CliRunner().invoke(main, ["*join", "--list"]).stdout.splitlines()
    joins = ["engine.remote_join", "engine.join", "engine.registry_join", "kafka.join", "kafka.registry_join"]
    assert [line.split()[0] for line in lines] == joins


def test_a_pattern_that_fits_nothing_is_refused() -> None:
    refused = CliRunner().invoke(main, ["*joins"])
    assert refused.exit_code == 2
    assert 'no bench "*joins"' in refused.stderr


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["command", "--json", str(tmp_path / "nowhere" / "figures.json")])
    assert refused.exit_code == 2
    assert "No such file or directory" in refused.stderr
    assert refused.stdout == ""


def test_the_help_says_what_can_be_asked() -> None:
    printed = CliRunner().invoke(main, ["--help"]).stdout
    assert "--list" in printed
    assert "--json FILE" in printed
    assert "python -m bench command" in printed


@pytest.mark.parametrize(
    ("row", "value", "ratio", "remark"),
    [
        (
            Row("a", 3.0, "s", Aim(most=2), "2 CPU s", Compared("b", 1.5)),
            3.0,
            2.0,
            "2 times b (1.5); 2 CPU s",
        ),
        (Row("a", 3.0, "s", compared=Compared("b", 0.0)), 3.0, None, "b (0)"),
        (Row("left out", float("nan"), ""), None, None, ""),
    ],
)
def test_a_row_is_written_as_json_that_others_read(
    row: Row, value: float | None, ratio: float | None, remark: str
) -> None:
    fields = json.loads(json.dumps(_fields("bench", row), allow_nan=False))
    assert (fields["value"], fields["ratio"], row.remark) == (value, ratio, remark)
    assert fields["missed"] == (row.aim is not None)


def _descendants(pid: int) -> set[int]:
    """The processes that a process has started, and those that these have started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return family - {pid}


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_bench_that_is_ended_ends_the_broker_that_it_started(kafka_jars: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "bench", "kafka.delivery"]
    with subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=subprocess.DEVNULL) as bench:
        try:
            deadline = time.monotonic() + 120
            while not (started := _descendants(bench.pid)) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert started, "no broker was started"
            bench.send_signal(signal.SIGTERM)
            assert bench.wait(60) == 128 + signal.SIGTERM
        finally:
            bench.kill()
    assert [pid for pid in started if _lives(pid)] == []
    assert list(tmp_path.iterdir()) == []
