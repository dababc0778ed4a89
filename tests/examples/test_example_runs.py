"""Each example by `streamapp run`, as its page says, on made-up rows."""

from pathlib import Path

import pytest

from examples.example_apps import example, names
from examples.example_run import run_example

SHORTEST = "fraud"
"""The one that `make test` runs: one app, one round, code of its own."""

RUNS = [pytest.param(name, marks=() if name == SHORTEST else pytest.mark.nightly) for name in names()]


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("name", RUNS)
def test_an_example_writes_the_expected_rows(name: str, tmp_path: Path) -> None:
    lines: list[str] = []
    equal = run_example(example(name), tmp_path, rows=600, seed=3, say=lines.append)
    assert equal, "\n".join(lines)
