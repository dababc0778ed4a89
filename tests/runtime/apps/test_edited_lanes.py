"""Whether lanes wait for each other is edited while an app is at work on two executors."""

import json
import subprocess
import sys
from itertools import accumulate
from pathlib import Path

import pytest

from tests.harness.child_processes import paced_lanes


@pytest.mark.usefixtures("process")
def test_an_edit_has_lanes_wait_for_each_other_or_not_and_scans_never_go_back(tmp_path: Path) -> None:
    command = [sys.executable, "-m", paced_lanes.__name__, str(tmp_path)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    steps = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [step["independent"] for step in steps] == list(paced_lanes.WAYS)
    for step in steps:
        assert step["read"] == paced_lanes.ROWS
        assert step["counts"] == sorted(step["counts"])
        assert len(set(step["counts"])) > 1, "it was not at work"
        assert step["there"] - paced_lanes.ROWS <= step["counts"][0]
        assert step["counts"][-1] <= step["there"]
        if not step["independent"]:
            before = step["there"] - paced_lanes.ROWS
            assert set(step["counts"]) <= set(accumulate(step["batches"], initial=before))
