"""A start, from launch to the first rows: steps by clock and CPU, beside a bare PySpark start.

Each figure is the median of several runs that take turns. The CPU seconds of a command are those of all its
processes until the last of them has ended. BENCH_STARTS=1 runs once.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN, over_views
from bench.row import Aim, Compared, Row
from streamapp_runtime.driver.spark.class_archive import OFF
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

RUNS = int(os.environ.get("BENCH_STARTS", "3"))
COMMAND = Path(sys.executable).with_name("streamapp")
REPOSITORY = Path(__file__).parents[1]
ROWS = 1_000
PLAIN, OF_SPARK = "a map of plain columns", "the same with a day's name and JSON"
EXPRESSIONS = {
    PLAIN: over_views("user, page, ts"),
    OF_SPARK: over_views("user, get_json_object(page, '$.p') AS p, date_format(ts, 'EEEE') AS day"),
}
_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER

Cost = tuple[float, float]  # seconds of the clock, CPU seconds


def rows() -> Iterator[Row]:
    """Whole commands with one processor and two, with an archive of classes and without; then their steps."""
    if ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0):
        raise OSError("the processes of a command cannot be adopted")
    child = [sys.executable, "-m", "bench.start_child"]
    costs: defaultdict[str, list[Cost]] = defaultdict(list)
    steps: defaultdict[tuple[str, str], list[Cost]] = defaultdict(list)
    for processors in (1, 2):
        _run_app(processors)  # archives that are missing are made after it, and waited for
    for _ in range(RUNS):
        costs["bare PySpark"].append(_measured(child)[0])
        costs["one processor"].append(_run_app(1))
        costs["one processor, no archive"].append(_run_app(1, {OFF: "1"}))
        costs["two processors"].append(_run_app(2))
        for kind, app in EXPRESSIONS.items():
            costs[kind].append(_run_app(1, app=app))
        for kind, processors in (("bare PySpark", 0), ("one processor", 1), ("two processors", 2)):
            for step, cost in _steps(child, processors):
                steps[kind, step].append(cost)
    bare = _median(costs["bare PySpark"])
    for kind, found in costs.items():
        clock, cpu = _median(found)
        beside = f"{cpu:.1f} CPU s, {cpu / bare[1]:.2f} of a bare start"
        most = {"one processor": 0.6 * bare[0], OF_SPARK: 1.3 * _median(costs[PLAIN])[0]}.get(kind)
        aim = None if most is None else Aim(most=most)
        yield Row(kind, clock, "s", aim, beside, Compared("a bare start", bare[0]))
    for (kind, step), found in steps.items():
        clock, cpu = _median(found)
        yield Row(f"{kind}: {step}", clock, "s", None, f"{cpu:.2f} CPU s")


def _steps(child: Sequence[str], processors: int) -> Iterator[tuple[str, Cost]]:
    with tempfile.TemporaryDirectory() as folder:
        arguments = [*_filled(Path(folder)), str(processors)] if processors else []
        begun, spent = time.monotonic(), 0.0
        for line in _measured([*child, *arguments])[1].splitlines():
            step, at, cpu = json.loads(line)
            yield step, (at - begun, cpu - spent)
            begun, spent = at, cpu


def _run_app(processors: int, environment: dict[str, str] | None = None, app: str = JOIN) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        app, data = _filled(Path(folder), app)
        options = ["--data", data, "--until-end", "--processors", str(processors)]
        return _measured([str(COMMAND), "run", app, *options], environment)[0]


def _filled(folder: Path, text: str = JOIN) -> tuple[str, str]:
    log = EmbeddedSystem(folder / "data")
    page_views.to_log(log, "users", page_views.users(ROWS))
    page_views.to_log(log, "views", page_views.views(ROWS, known=ROWS))
    for output in ("enriched", "changed"):
        log.create(output, page_views.PARTITIONS)
    log.close()
    app = folder / "app.yaml"
    app.write_text(text)
    return str(app), str(folder / "data")


def _measured(command: Sequence[str], environment: dict[str, str] | None = None) -> tuple[Cost, str]:
    """What a command costs until the last of its processes has ended, and what it prints."""
    before, begun = os.times(), time.monotonic()
    ran = subprocess.run(  # noqa: S603 - our own
        command,
        cwd=REPOSITORY,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    clock = time.monotonic() - begun
    if ran.returncode:
        raise RuntimeError(f"{command} ended with {ran.returncode}:\n{ran.stderr[-4000:]}")
    _wait_for_orphans()
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return (clock, used), ran.stdout


def _wait_for_orphans() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _median(costs: Sequence[Cost]) -> Cost:
    return median(clock for clock, _ in costs), median(cpu for _, cpu in costs)
