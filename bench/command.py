"""Starting the command: CPU seconds until the help of a verb, or a plan, is shown.

The command is a process of its own, so its cost is read from the operating system's account of children.
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.row import Aim, Compared, Row

COMMAND = Path(sys.executable).with_name("streamapp")
EXAMPLE = Path(__file__).parents[1] / "examples" / "page-views"
RUNS = 7


def rows() -> Iterator[Row]:
    """The help of all verbs, that of one, and a plan; beside them what Python takes for nothing."""
    nothing = _cpu([sys.executable, "-c", "pass"])
    compared = Compared("python -c pass", nothing)
    for verb in ((), ("plan",)):
        spent = _cpu([str(COMMAND), *verb, "--help"])
        name = " ".join(("streamapp", *verb, "--help"))
        yield Row(name, spent, "CPU s", Aim(most=0.4), compared=compared)
    plan = [str(COMMAND), "plan", str(EXAMPLE / "app.yaml"), "--catalog", str(EXAMPLE / "topics.yaml")]
    yield Row("streamapp plan of the first example", _cpu(plan), "CPU s", Aim(most=0.4), compared=compared)


def _cpu(command: list[str]) -> float:
    return statistics.median(_once(command) for _ in range(RUNS))


def _once(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
