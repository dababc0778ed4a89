"""What is left of a JVM whose start is interrupted."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.harness.machine.processes import until

PROGRAM = """
from streamapp_runtime.driver.spark.spark_session import open_session

open_session("interrupted", 1)
"""


def java_children(pid: int) -> list[int]:
    """The JVMs that a process has started."""
    children = [
        int(child)
        for task in Path(f"/proc/{pid}/task").glob("*/children")
        for child in task.read_text("ascii").split()
    ]
    return [child for child in children if Path(f"/proc/{child}/comm").read_text("utf-8").strip() == "java"]


def test_an_interrupt_while_the_jvm_starts_leaves_none() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=subprocess.DEVNULL) as starting:
        until(lambda: java_children(starting.pid), 60)
        (jvm,) = java_children(starting.pid)
        starting.send_signal(signal.SIGINT)
        starting.wait(30)
    until(lambda: not Path(f"/proc/{jvm}").exists(), 10)
