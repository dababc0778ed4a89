"""Large apps: they fit, they are worked out once, and what does not fit is told."""

import asyncio

import pytest

from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.reconciler.facts.published_run import read_run
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.result_caches import MemoizedResults
from tests.harness.operator.operator_sim import INSTALLATION, START, OperatorSim
from tests.harness.operator.small_apps import join


@pytest.mark.long
def test_an_app_of_a_hundred_thousand_tasks_is_launched_from_one_config_map() -> None:
    sim = OperatorSim.in_memory()
    try:
        many = 100_000
        sim.table.answer = KnownCounts({"views": many, "users": many, "enriched": None})
        sim.apply(join(processors=1_000))
        sim.reconcile()
        assert len(sim.drivers()) == 1
        assert sim.status()["tasks"] == many
        (text,) = [len(text) for text in sim.config_map("app-job-model")["data"].values() if "model" in text]
        assert text < 900_000
    finally:
        sim.close()


@pytest.mark.long
def test_other_apps_are_served_while_the_model_of_a_large_one_is_decoded() -> None:
    """Its text is small: 9 kB hold 40,000 tasks, and take half a second."""
    sim = OperatorSim.in_memory()
    context = ReconcileContext(sim.cluster, ObjectCache(), lambda: START, sim.table, INSTALLATION)
    served = 0

    async def serve() -> None:
        nonlocal served
        while True:
            await asyncio.sleep(0)
            served += 1

    async def decode() -> bool:
        serving = asyncio.create_task(serve())
        decoded = await read_run(context, sim.app(), [sim.config_map("app-job-model")])
        serving.cancel()
        return decoded.desired is not None

    try:
        many = 10_000
        sim.table.answer = KnownCounts({"views": many, "users": many, "enriched": None})
        sim.apply(join())
        sim.settle()
        assert asyncio.run(decode())
        assert served
    finally:
        sim.close()


@pytest.mark.usefixtures("process")
def test_an_app_that_no_config_map_takes_is_refused_with_its_size(sim: OperatorSim) -> None:
    template = {"metadata": {"annotations": {"long": "x" * 500_000}}}
    sim.apply(join(driver={"template": template}, executor={"template": template}))
    sim.settle()
    assert sim.says("Accepted") == ("False", "TooLarge")
    assert "may take 900,000" in sim.condition("Accepted")["message"]


def test_an_answer_is_worked_out_again_only_when_what_it_is_made_of_differs() -> None:
    asked = []
    worked = MemoizedResults(min_seconds=0.0)

    def answer(of: int) -> int:
        return worked.of("question", (of,), lambda: asked.append(of) or of * 2)

    assert [answer(1), answer(1), answer(2), answer(1)] == [2, 2, 4, 2]
    assert asked == [1, 2, 1]


def test_quick_answers_are_not_kept() -> None:
    asked = []
    worked = MemoizedResults(min_seconds=60.0)
    for _ in range(2):
        worked.of("question", (1,), lambda: asked.append(1))
    assert len(asked) == 2
