"""A resource that takes long to check is checked in another process, and refused where it takes too long."""

import asyncio
from typing import Any

import pytest

from streamapp_operator.reconciler.facts.generation_validation import validate_generation
from streamapp_operator.reconciler.facts.validation_pool import ValidationPool
from streamapp_operator.reconciler.result_caches import MemoizedResults, RecentResults
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import costly, join

QUICK_SECONDS, MOST_SECONDS = 0.1, 0.25
"""A tenth of what the costly app takes, and less: no machine is fast enough to validate it in this time."""


@pytest.mark.usefixtures("process")
def test_an_app_that_takes_too_long_to_check_is_refused_and_the_generation_before_runs_on(
    sim: OperatorSim,
) -> None:
    sim.validation_pool = ValidationPool(quick_seconds=QUICK_SECONDS, most_seconds=MOST_SECONDS)
    sim.bring_up(join())
    sim.edit(operators=costly("app")["spec"]["operators"])
    sim.settle()
    assert sim.says("Accepted") == ("False", "TooLarge")
    assert "0.25 s of processor time" in sim.condition("Accepted")["message"]
    assert sim.says("Ready") == ("True", "Running")
    assert [pod["metadata"]["name"] for pod in sim.drivers()] == ["app-driver-1"]


@pytest.mark.usefixtures("process")
def test_what_another_process_says_of_an_app_is_what_this_one_says() -> None:
    sound, wrong = join("sound"), join("wrong")
    wrong["spec"]["operators"][0]["joinTable"]["select"] = "user, nothing"
    for number, app in enumerate((sound, wrong)):
        app["metadata"] |= {"uid": f"u-{number}", "generation": 3, "namespace": "shop"}

    async def validated(pool: ValidationPool) -> list[Any]:
        try:
            return [await pool.validate(app) for app in (sound, wrong)]
        finally:
            await pool.close()

    assert asyncio.run(validated(ValidationPool(small_characters=0))) == [
        validate_generation(sound),
        validate_generation(wrong),
    ]


@pytest.mark.usefixtures("process")
def test_work_whose_reconcile_is_cancelled_is_ended_and_another_process_follows() -> None:
    apps = [costly(f"app-{number}") for number in range(2)]
    for number, app in enumerate(apps):
        app["metadata"] |= {"uid": f"u-{number}", "generation": 1, "namespace": "shop"}

    async def cancelled_then_validated() -> Any:
        pool = ValidationPool(quick_seconds=QUICK_SECONDS, most_seconds=MOST_SECONDS)
        validation = asyncio.create_task(pool.validate(apps[0]))
        while not any(process.pid for process in pool.processes()):
            await asyncio.sleep(0)
        validation.cancel()
        await asyncio.wait({validation})
        assert not any(process.pid for process in pool.processes())
        try:
            return await pool.validate(apps[1])
        finally:
            await pool.close()

    (problem,) = asyncio.run(cancelled_then_validated()).newest.problems
    assert problem.reason == "TooLarge"


def test_results_are_forgotten_when_they_are_large_together() -> None:
    recent: RecentResults[str] = RecentResults(max_size=10, max_weight=100)
    for number in range(5):
        recent.put(number, "x", weight=40)
    assert [number for number in range(5) if recent.peek(number)] == [3, 4]
    recent.put(4, "x", weight=90)
    assert [number for number in range(5) if recent.peek(number)] == [4]
    recent.put(5, "x", weight=1_000)
    assert recent.peek(5) == "x", "the newest is kept, whatever its size"


def test_answers_about_large_apps_are_not_all_kept() -> None:
    memoized = MemoizedResults(min_seconds=0.0, max_partitions=1_000)
    for number in range(5):
        memoized.of(number, (), lambda: "answer", partitions=400)
    assert len(memoized) == 2
