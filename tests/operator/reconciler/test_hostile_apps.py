"""A hundred apps beside five hostile ones: an edit of a good app is taken up as fast as without them.

Without them means: the same five write as much to the API server, and are of another operator's class. What
their writes cost the API server is no matter of this operator.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count, islice
from pathlib import Path
from statistics import quantiles
from time import monotonic
from typing import Any

import pytest

from streamapp.protocol import message_names
from streamapp_operator.reconciler.objects import object_names
from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import until
from tests.harness.operator.app_fleet import APPS, CORE, NAMESPACE, Fleet, fleet
from tests.harness.operator.operator_processes import Operator, settle
from tests.harness.operator.small_apps import costly, join

GOOD_APPS, EDITS, ROUNDS = 100, 12, 4
"""The apps, and the edits of a round; rounds with hostile apps and without meet the same other work."""
MOST_DELAY = 1.0
"""Seconds by which hostile apps may delay another one's edit."""
PATIENCE_SECONDS = 600.0
MERGE = "application/merge-patch+json"
COSTLY, FLAPPING, REFUSED, REPORTING, DELETING = "costly", "flapping", "refused", "reporting", "deleting"
HOSTILE = {COSTLY: 1.0, FLAPPING: 0.05, REFUSED: 0.2, REPORTING: 0.5, DELETING: 0.2}
"""The hostile apps, and the seconds between two things that each of them does."""
OURS, OTHERS = "", "-of-others"
"""Ends of the names of the hostile apps: of this operator, and of another one that is not there."""


@pytest.mark.long
@pytest.mark.timeout(4 * PATIENCE_SECONDS)
def test_hostile_apps_delay_the_edits_of_a_hundred_others_by_less_than_a_second(
    api_server: ApiServer, tmp_path: Path
) -> None:
    api_server.allow_election(NAMESPACE)
    with (
        Operator(
            api_server, NAMESPACE, tmp_path / "operator.log", module="tests.harness.operator.whole_operator"
        ) as operator,
        asyncio.Runner() as runner,
    ):
        until(operator.leads, 60, operator)
        runner.run(_compare(api_server, operator))


async def _compare(server: ApiServer, operator: Operator) -> None:
    async with fleet(server) as apps:
        names = [f"good-{number}" for number in range(GOOD_APPS)]
        await apps.apply(names)
        await apps.until_driven(names, PATIENCE_SECONDS)
        await apps.run(names)
        await asyncio.to_thread(settle, operator, PATIENCE_SECONDS)
        alone, beside = list[float](), list[float]()
        unedited = iter(names)
        for end in (OTHERS, OURS):
            await _apply_hostile(apps, end)
        for _ in range(ROUNDS):
            async with _hostile(apps, OTHERS):
                alone += await _edits(apps, list(islice(unedited, EDITS)))
            async with _hostile(apps, OURS):
                beside += await _edits(apps, list(islice(unedited, EDITS)))
        sys.stdout.write(f"alone {_summary(alone)}; beside hostile apps {_summary(beside)}\n")
        assert _most(beside) < _most(alone) + MOST_DELAY
        assert await apps.restarted() == {}
        assert operator.measured("streamapp_operator_restarts_total") == {"": 0.0}


def _most(latencies: Sequence[float]) -> float:
    """The ninth decile: a busy machine may delay one edit by more than any app does."""
    return quantiles(latencies, n=10)[-1]


def _summary(latencies: Sequence[float]) -> str:
    return f"{quantiles(latencies, n=2)[0]:.2f}, {_most(latencies):.2f}, at most {max(latencies):.2f} s"


async def _edits(apps: Fleet, names: Sequence[str]) -> list[float]:
    """Seconds from the edit of each app until its status says that it was taken up."""
    return [await _edit(apps, name) for name in names]


async def _edit(apps: Fleet, name: str) -> float:
    path, began = f"{APPS}/{name}", monotonic()
    edited = await apps.ask("PATCH", path, {"spec": {"processors": 3}}, MERGE)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            status = (await apps.ask("GET", path)).get("status", {})
            if status.get("observedGeneration") == edited["metadata"]["generation"]:
                return monotonic() - began
            await asyncio.sleep(0.02)


async def _apply_hostile(apps: Fleet, end: str) -> None:
    for name in HOSTILE:
        await apps.ask("POST", APPS, join(name + end, **({"operatorClass": "others"} if end else {})))
    if end:
        metadata = {"name": f"{REPORTING}{end}-report", "labels": {"streamapp.dev/app": f"{REPORTING}{end}"}}
        await apps.ask("POST", f"{CORE}/configmaps", {"metadata": metadata})
    else:
        await apps.until_driven(HOSTILE, PATIENCE_SECONDS)


@asynccontextmanager
async def _hostile(apps: Fleet, end: str) -> AsyncIterator[None]:
    """The hostile apps at work: each has done what it does a few times."""
    done = dict.fromkeys(HOSTILE, 0)

    async def trouble(name: str, seconds: float) -> None:
        act = _acts(apps, end)[name]
        for number in count(1):
            await act(number)
            done[name] = number
            await asyncio.sleep(seconds)

    async with asyncio.TaskGroup() as group:
        troubles = [group.create_task(trouble(name, seconds)) for name, seconds in HOSTILE.items()]
        while min(done.values()) < 3:
            await asyncio.sleep(0.1)
        yield
        for task in troubles:
            task.cancel()


def _acts(apps: Fleet, end: str) -> dict[str, Callable[[int], Awaitable[Any]]]:
    async def edit(name: str, **spec: Any) -> None:
        await apps.ask("PATCH", f"{APPS}/{name}{end}", {"spec": spec}, MERGE)

    async def check_costly(number: int) -> None:
        await edit(COSTLY, operators=costly(COSTLY, salt=number)["spec"]["operators"])

    async def flap(number: int) -> None:
        await edit(FLAPPING, processors=2 + number % 2)

    async def ask_for_refused_pods(number: int) -> None:
        resources = {"requests": {"cpu": str(2 + number)}, "limits": {"cpu": "1"}}
        template = {"spec": {"containers": [{"name": "driver", "resources": resources}]}}
        await edit(REFUSED, driver={"template": template})

    async def report(number: int) -> None:
        text = f'{{"counts": {{"views": {10**9 + number}}}, "padding": "{"x" * 800_000}"}}'
        body = {"data": {message_names.REPORT: text}}
        await apps.ask("PATCH", f"{CORE}/configmaps/{REPORTING}{end}-report", body, MERGE)

    async def delete_service(number: int) -> None:
        path = f"{CORE}/services/{object_names.service(DELETING + end)}"
        async with apps.session.delete(f"{apps.url}{path}") as reply:
            await reply.read()  # it may be missing: it is put back once a second
        await edit(DELETING, processors=2 + number % 2)

    return {
        COSTLY: check_costly,
        FLAPPING: flap,
        REFUSED: ask_for_refused_pods,
        REPORTING: report,
        DELETING: delete_service,
    }
