"""The operator before a real API server: launches, what they cost, and a thousand apps that rest.

No pod runs here. A launch is all that the operator does from an applied StreamApp to its driver pod; CPU
seconds are the operator's own. Published for the Kubeflow operator for Spark: 130 to 155 launches a minute on
36 cores, 11 to 14 CPU seconds each.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from time import monotonic

from bench.row import Aim, Row
from tests.harness.api_server.api_server import ApiServer, assets, running
from tests.harness.machine.processes import until
from tests.harness.operator.app_fleet import Fleet, fleet
from tests.harness.operator.operator_processes import Operator, settle

CHILD = "tests.harness.operator.whole_operator"
BURST = int(os.environ.get("BENCH_APPS", "1000"))
SINGLE = 60
EVERY = 0.5
REST = float(os.environ.get("BENCH_REST", "60"))


def rows() -> Iterator[Row]:
    """Launches one by one, launches all at once, and rest."""
    programs = assets()
    if programs is None:
        raise SystemExit("the API server is not there: make kube-assets")
    with tempfile.TemporaryDirectory() as folder, running(programs, Path(folder)) as server:
        server.allow_election("default")
        with Operator(server, "default", Path(folder) / "operator.log", module=CHILD) as operator:
            until(lambda: operator.asked("/readyz")[0] == 200, 60, operator)
            empty = operator.resident_bytes()
            yield Row("memory with no app", empty / 2**20, "MiB")
            with asyncio.Runner() as runner:
                yield from _measured(runner, server, operator)


def _measured(runner: asyncio.Runner, server: ApiServer, operator: Operator) -> Iterator[Row]:
    opened = fleet(server)
    apps = runner.run(opened.__aenter__())
    try:
        yield from _one_by_one(runner, apps)
        yield from _at_once(runner, apps, operator)
        yield from _at_rest(runner, apps, operator)
    finally:
        runner.run(opened.__aexit__(None, None, None))


def _one_by_one(runner: asyncio.Runner, apps: Fleet) -> Iterator[Row]:
    names = [f"single-{number}" for number in range(SINGLE)]
    runner.run(apps.apply(names, EVERY))
    runner.run(apps.until_driven(names, 120))
    took = sorted(apps.driven[name] - apps.applied[name] for name in names)
    marks = quantiles(took, n=100, method="inclusive")
    beside = f"two apps a second, {SINGLE} of them"
    yield Row("from apply to driver pod, half of them", marks[49], "s", Aim(most=1), beside)
    yield Row("from apply to driver pod, 99 of 100", marks[98], "s", Aim(most=5))


def _at_once(runner: asyncio.Runner, apps: Fleet, operator: Operator) -> Iterator[Row]:
    names = [f"app-{number}" for number in range(BURST - SINGLE)]
    cpu, began = operator.cpu_seconds(), monotonic()
    runner.run(apps.apply(names))
    runner.run(apps.until_driven(names, 1200))
    took = max(apps.driven[name] for name in names) - began
    runner.run(asyncio.sleep(2))
    spent = (operator.cpu_seconds() - cpu) / len(names)
    twice = sum(len(pods) > 1 for pods in apps.drivers.values())
    beside = f"{len(names)} applied at once, {twice} launched twice"
    yield Row("launches a minute", len(names) / took * 60, "", Aim(least=1000), beside)
    yield Row("one launch", spent, "CPU s", Aim(most=0.2), "Kubeflow's takes 11 to 14")


def _at_rest(runner: asyncio.Runner, apps: Fleet, operator: Operator) -> Iterator[Row]:
    runner.run(apps.run(apps.driven))
    until(lambda: runner.run(apps.ready()) == len(apps.driven), 600, operator)
    settle(operator)
    before, cpu = operator.writes(), operator.cpu_seconds()
    runner.run(asyncio.sleep(REST))
    written = operator.writes() - before
    spent = (operator.cpu_seconds() - cpu) / REST
    beside = f"{len(apps.driven)} apps in {REST:.0f} s"
    yield Row("API writes at rest, without the Lease", written, "", Aim(most=0), beside)
    yield Row("CPU at rest", spent * 100, "% of a core")
    yield Row("memory at rest", operator.resident_bytes() / 2**20, "MiB", Aim(most=250))
