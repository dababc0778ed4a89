"""A script that a test runs in a process of its own, with a JVM of its own, and what it finds to be so."""

import os
import sys
from pathlib import Path

from streamapp_runtime.crash_points import VARIABLE
from tests.harness.machine.processes import Child

REPOSITORY = Path(__file__).parents[3]


def facts_of(script: str, folder: Path, *arguments: str) -> list[str]:
    """Its lines that end with True or False. The folder, its first argument, marks what it starts."""
    command = [sys.executable, "-c", script, str(folder), *arguments]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), VARIABLE: str(folder)}
    with Child(command, folder / "driver.log", environment) as driver:
        assert driver.wait(240) == 0, driver.said()
    return [line for line in driver.said().splitlines() if line.endswith((": True", ": False"))]
