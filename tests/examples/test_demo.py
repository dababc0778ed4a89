"""`make demo`, the first command of the front page."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_the_demo_ends_with_totals_that_equal_those_counted_without_the_app() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "JoinPartitionMismatch" in done.stdout
    assert done.stdout.endswith("\nequal\n")
