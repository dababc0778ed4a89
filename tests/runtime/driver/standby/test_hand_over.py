"""A driver that is asked to end runs on until the next one can take over, within half its grace period."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from streamapp_runtime.driver.modes.stop_signal import SignalStop
from streamapp_runtime.driver.standby.hand_over import CREATION_SECONDS, POLL_SECONDS, HandOver
from tests.harness.machine.processes import until

GRACE = 60.0


@dataclass(slots=True)
class Cluster:
    """The driver pods by what the API server says of them, and a clock that runs while nobody works."""

    answers: Callable[[float], list[dict[str, Any]]]
    now: float = 0.0

    def pods(self) -> list[dict[str, Any]]:
        return self.answers(self.now)

    def pause(self, seconds: float) -> None:
        self.now += seconds


def driver(incarnation: int, *conditions: tuple[str, str, str]) -> dict[str, Any]:
    return {
        "metadata": {"labels": {"streamapp.dev/incarnation": str(incarnation)}},
        "status": {
            "conditions": [
                {"type": kind, "status": status, "reason": reason} for kind, status, reason in conditions
            ]
        },
    }


OWN = driver(7, ("Ready", "True", ""))
READY = driver(8, ("Ready", "True", ""))
COMING = driver(8, ("Ready", "False", ""))
NO_ROOM = driver(8, ("PodScheduled", "False", "Unschedulable"))


def gone(_: float) -> list[dict[str, Any]]:
    raise OSError("HTTP Error 403: Forbidden")


CASES: dict[str, tuple[Callable[[float], list[dict[str, Any]]], float]] = {
    "no successor": (lambda _: [OWN], CREATION_SECONDS),
    "a successor that is ready": (lambda _: [OWN, READY], 0.0),
    "a successor that gets ready": (lambda now: [OWN, READY if now >= 10 else COMING], 10.0),
    "a successor that is created a moment later": (lambda now: [OWN, *([READY] if now >= 2 else [])], 2.0),
    "a successor that does not get ready": (lambda _: [OWN, COMING], GRACE / 2),
    "a successor without room": (lambda _: [OWN, NO_ROOM], 0.0),
    "a successor that is taken away": (lambda now: [OWN, *([COMING] if now < 9 else [])], 9.0),
    "an earlier driver": (lambda _: [driver(6, ("Ready", "True", "")), OWN], CREATION_SECONDS),
    "an app that is gone": (gone, 0.0),
}


@pytest.mark.parametrize("case", CASES)
def test_a_driver_waits_for_what_may_come_of_it(case: str) -> None:
    answers, seconds = CASES[case]
    cluster = Cluster(answers)
    hand_over = HandOver(cluster.pods, 7, GRACE, lambda: cluster.now, cluster.pause)
    until(hand_over.is_over, 10.0)
    assert abs(cluster.now - seconds) <= POLL_SECONDS


@pytest.mark.usefixtures("process")
def test_a_signal_before_the_start_is_over_waits_for_nobody() -> None:
    cluster = Cluster(lambda _: [OWN, COMING])
    stop = SignalStop(hand_over=HandOver(cluster.pods, 7, GRACE, lambda: cluster.now, lambda _: None))
    assert not stop.is_set()
    stop.wanted = True
    assert stop.is_set()
    stop.launched(None)
    assert not stop.is_set()
    cluster.now = GRACE
    until(stop.is_set, 10.0)
