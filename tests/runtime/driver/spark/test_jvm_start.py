"""What is left of a JVM whose start is interrupted."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.machine.processes import until

PROGRAM = """
from streamapp_runtime.driver.spark.spark_session import open_session

open_session("interrupted", 1)
"""


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").glob("*/children")
        for child in task.read_text("ascii").split()
    ]


def java_children(pid: int) -> list[int]:
    """The JVMs that a process has started."""
    return [child for child in children(pid) if Path(f"/proc/{child}/comm").read_text().strip() == "java"]


@pytest.mark.parametrize("started", [children, java_children])
def test_an_interrupt_while_the_jvm_starts_leaves_none(started: Callable[[int], list[int]]) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=subprocess.DEVNULL) as starting:
        until(lambda: started(starting.pid), 60)
        (jvm,) = started(starting.pid)
        starting.send_signal(signal.SIGINT)
        starting.wait(30)
    until(lambda: not Path(f"/proc/{jvm}").exists(), 10)
