"""All executors of an app are rolled, one after the other, each with a disk that it finds again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.child_processes import rolled_executors


@pytest.mark.long
def test_who_comes_back_restores_what_was_written_meanwhile_and_nobody_restores_more_than_the_bound(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", rolled_executors.__name__, str(tmp_path)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=500, check=True)
    steps = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [step["step"] for step in steps] == ["out", "back"] * rolled_executors.PROCESSORS
    tasks_each = rolled_executors.PARTITIONS // rolled_executors.PROCESSORS
    for out, back in zip(steps[::2], steps[1::2], strict=True):
        assert out["moved"] == out["without"] == tasks_each
        assert out["lacking"] <= out["restored"] <= out["bound"]
        assert (back["moved"], back["without"]) == (tasks_each, 0)
        assert 0 < back["restored"] <= back["bound"]
        assert 0 < back["lacking"] < out["lacking"] / 4
