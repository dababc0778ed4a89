"""A thousand apps before a real API server: all launched, none twice, and then ten minutes of rest.

No pod runs: the test is the kubelet and the drivers. It takes a quarter of an hour, nearly all of it rest,
so that no landing waits for it: `make soak` runs it.
"""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import until
from tests.harness.operator.app_fleet import NAMESPACE, Fleet, fleet
from tests.harness.operator.operator_processes import Operator, settle

AT_ONCE = 500
REST_SECONDS = 600.0
PATIENCE_SECONDS = 900.0
UNHURRIED = 30.0
"""Hundreds of apps at once may keep an API server from a renewal in time, and that is not tried here."""
MOST_BYTES = 250 * 2**20
MOST_OF_A_CORE = 0.01


@pytest.mark.timeout(REST_SECONDS + 4 * PATIENCE_SECONDS)
def test_of_five_hundred_apps_at_once_none_is_launched_twice_and_a_thousand_at_rest_cost_nothing(
    api_server: ApiServer, tmp_path: Path
) -> None:
    api_server.allow_election(NAMESPACE)
    log = tmp_path / "operator.log"
    with (
        Operator(
            api_server, NAMESPACE, log, pace=UNHURRIED, module="tests.harness.operator.whole_operator"
        ) as operator,
        asyncio.Runner() as runner,
    ):
        until(lambda: operator.asked("/readyz")[0] == 200, 60, operator)
        runner.run(_launch_and_rest(api_server, operator))


async def _launch_and_rest(server: ApiServer, operator: Operator) -> None:
    async with fleet(server) as apps:
        for half in ("one", "two"):
            names = [f"{half}-{number}" for number in range(AT_ONCE)]
            await apps.apply(names)
            await apps.until_driven(names, PATIENCE_SECONDS)
            await apps.run(names)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await apps.ready() < 2 * AT_ONCE:
                await asyncio.sleep(1)
        settle(operator, PATIENCE_SECONDS)
        written, spent = operator.writes(), operator.cpu_seconds()
        await asyncio.sleep(REST_SECONDS)
        _look(apps, operator, written, spent)


def _look(apps: Fleet, operator: Operator, written: float, spent: float) -> None:
    assert {len(pods) for pods in apps.drivers.values()} == {1}
    assert operator.measured("streamapp_operator_launches_total") == {"": 2.0 * AT_ONCE}
    assert operator.measured("streamapp_operator_restarts_total") == {"": 0.0}
    assert operator.writes() == written
    of_a_core, resident = (operator.cpu_seconds() - spent) / REST_SECONDS, operator.resident_bytes()
    # `make soak` shows what a test that passes has said: these are figures to go by.
    sys.stdout.write(f"at rest: {of_a_core:.2%} of a core, {resident / 2**20:.0f} MiB\n")
    assert of_a_core < MOST_OF_A_CORE
    assert resident < MOST_BYTES
