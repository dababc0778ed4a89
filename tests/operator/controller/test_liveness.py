"""An operator that gets nowhere notices it."""

import asyncio

import pytest

from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.workqueue.key_queue import KeyQueue
from streamapp_operator.controller.workqueue.liveness import (
    AnsweredRequests,
    OperatorLiveness,
    QueueStuckError,
)
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


def test_a_leader_whose_every_request_is_throttled_is_told_and_one_answer_is_enough() -> None:
    """The Lease is renewed on connections of its own, so that it says nothing about the others."""
    clock, leads = Clock(), [True]
    requests = AnsweredRequests(clock)
    pulse = OperatorLiveness(KeyQueue[AppKey](clock), clock, lambda: leads[0], requests)
    for code in ("429", "none", "503", "429"):
        assert pulse.problem() == ""
        requests.request_ended(code)
        clock.now += 120.0
    assert pulse.problem() == "the API server renews the Lease, and has answered nothing else for 360 s"
    leads[0] = False
    assert pulse.problem() == ""
    leads[0] = True
    requests.request_ended("404")
    assert pulse.problem() == ""
    clock.now += 1_000.0
    requests.request_ended("429")
    assert pulse.problem() == "", "one request without an answer is no span of time"
