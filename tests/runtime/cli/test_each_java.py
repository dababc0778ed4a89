"""An app runs on each Java of this machine, and says nothing but what a run says."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from streamapp_runtime.cli.log import log
from tests.harness.machine.interpreters import java_homes
from tests.harness.runs.run_process import COMMAND, EXAMPLE

HOMES = java_homes()
NEWEST = max(HOMES, default=0)
RUN_BY = [pytest.param(java, marks=() if java == NEWEST else pytest.mark.nightly) for java in HOMES]
"""A landing takes the newest here; the other tests have the one of the machine."""


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("java", RUN_BY)
def test_every_line_of_a_run_is_the_runs_own(java: int, tmp_path: Path) -> None:
    home = HOMES[java]
    variables = {"JAVA_HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    for stream in ("page-views", "users", "totals"):
        create = ["create", str(tmp_path / "data"), stream, "--partitions", "2"]
        assert CliRunner().invoke(log, create).exit_code == 0
    command = [COMMAND, "run", EXAMPLE, "--data", tmp_path / "data", "--until-end", "--log-format", "json"]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == os.EX_OK, done.stderr
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert lines
    assert done.stdout == ""
