"""An operator that gets nowhere notices it."""

import asyncio

import pytest

from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.workqueue.key_queue import KeyQueue
from streamapp_operator.controller.workqueue.liveness import OperatorLiveness, QueueStuckError
from streamapp_operator.controller.workqueue.workers import LIVENESS_KEY


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_queue_that_nobody_drains_is_noticed() -> None:
    async def do() -> None:
        clock = asyncio.get_running_loop().time
        pulse = OperatorLiveness(KeyQueue[AppKey](clock), clock, lambda: True)
        await asyncio.wait_for(pulse.check_queue(every=0.01, stuck=0.05), 30)

    with pytest.raises(QueueStuckError, match="nothing was reconciled"):
        asyncio.run(do())


def test_a_queue_that_is_drained_is_let_go_on() -> None:
    async def do() -> int:
        clock = Clock()
        queue = KeyQueue[AppKey](clock)
        pulse = OperatorLiveness(queue, clock, lambda: True)
        beating = asyncio.create_task(pulse.check_queue(every=0.001, stuck=60.0))
        passed = 0
        while passed < 20:
            assert await asyncio.wait_for(queue.get(), 30) == LIVENESS_KEY
            queue.done(LIVENESS_KEY)
            pulse.key_passed()
            clock.now += 50.0
            passed += 1
        assert not beating.done()
        beating.cancel()
        return passed

    assert asyncio.run(do()) == 20


def test_a_late_loop_and_an_old_key_are_told_the_latter_by_the_leader_only() -> None:
    async def do() -> list[str]:
        clock, leads = Clock(), [False]
        queue = KeyQueue[AppKey](clock)
        pulse = OperatorLiveness(queue, clock, lambda: leads[0])
        told = [pulse.problem()]
        queue.add(AppKey("shop", "app"))
        clock.now += 400.0
        told.append(pulse.problem())
        leads[0] = True
        told.append(pulse.problem())
        pulse.lag = 20.0
        return [*told, pulse.problem()]

    assert asyncio.run(do()) == [
        "",
        "",
        "a key has been waiting for 400 s",
        "the event loop was late by 20 s",
    ]
