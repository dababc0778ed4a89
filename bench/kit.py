"""The test kit: milliseconds of one whole test of the first example, and seconds until pytest is ready.

A test is the app from its start to its close: two sends, a joined row, without Spark's SQL.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.row import Aim, Compared, Row
from streamapp.testing import TestApp

EXAMPLE = Path(__file__).parents[1] / "examples" / "page-views" / "app.yaml"
TESTS = 40
STARTS = 5


def rows() -> Iterator[Row]:
    """A test by the clock and in CPU time, and the start of pytest with the plugin and without."""
    _test()  # imports the engine
    measured = [_test() for _ in range(TESTS)]
    clock, cpu = (statistics.median(each) for each in zip(*measured, strict=True))
    yield Row("one test of the first example", clock, "ms", Aim(most=50), f"median of {TESTS}")
    yield Row("the same, CPU", cpu, "ms", Aim(most=50), f"median of {TESTS}")
    with TemporaryDirectory() as folder:
        without = _start(folder, "-p", "no:streamapp")
        compared = Compared("pytest without the plugin", without)
        yield Row("pytest --collect-only of one test", _start(folder), "s", Aim(most=1), compared=compared)


def _test() -> tuple[float, float]:
    clock, cpu = time.perf_counter(), time.process_time()
    with TestApp(EXAMPLE) as app:
        app.send("users", {"user": "ann", "country": "NO", "tier": 1})
        app.send("views", {"user": "ann", "page": "/"}, at="2026-01-01T12:00")
        if app.rows("enriched") != [{"user": "ann", "page": "/", "country": "NO"}]:
            raise AssertionError("the row is not joined")
    return 1_000 * (time.perf_counter() - clock), 1_000 * (time.process_time() - cpu)


def _start(folder: str, *options: str) -> float:
    Path(folder, "test_nothing.py").write_text("def test_nothing():\n    pass\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", *options, "test_nothing.py"]
    return statistics.median(_once(command, folder) for _ in range(STARTS))


def _once(command: list[str], folder: str) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    return time.perf_counter() - began
