"""A standby notices that the driver which works does not answer, and takes it back when it does."""

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from streamapp_runtime.driver.reporting.metrics_server import metrics_server, serve_metrics
from streamapp_runtime.driver.standby.driver_watch import FAILED_ASKS, DriverWatch, running_driver
from tests.harness.machine.processes import free_port, until

ASK_SECONDS = 0.05
LOOPBACK = "127.0.0.1"


def driver(incarnation: int, address: str = LOOPBACK, phase: str = "Running") -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"app-driver-{incarnation}",
            "labels": {"streamapp.dev/incarnation": str(incarnation)},
        },
        "status": {"phase": phase, "podIP": address},
    }


@dataclass(slots=True)
class Cluster:
    """The pods as the API server has them, and what it was told of silent drivers."""

    pods: list[dict[str, Any]] = field(default_factory=lambda: [driver(1), driver(2)])
    refusals: int = 0  # so many calls fail first
    said: list[str] = field(default_factory=list)
    looks: int = 0

    def drivers(self) -> list[dict[str, Any]]:
        self.looks += 1
        return self.pods

    def tell(self, silent_driver: str) -> None:
        if self.refusals:
            self.refusals -= 1
            raise OSError("HTTP Error 503: Service Unavailable")
        self.said.append(silent_driver)


@contextmanager
def answering(port: int, *, passes: bool = True) -> Iterator[None]:
    """A driver's own server."""
    with serve_metrics(metrics_server(CollectorRegistry(), port, LOOPBACK, lambda: (passes, "runs a batch"))):
        yield


@contextmanager
def stopped(port: int) -> Iterator[None]:
    """What a process that is stopped leaves: its kernel takes connections, and nobody answers."""
    with socket.create_server((LOOPBACK, port)):
        yield


@pytest.fixture
def port() -> int:
    return free_port()


def asked_again(cluster: Cluster, times: int) -> None:
    """So many questions without an answer have been asked: each looks first where the driver is."""
    wanted = cluster.looks + times
    until(lambda: cluster.looks >= wanted, 10.0)


def watch(cluster: Cluster, port: int) -> DriverWatch:
    return DriverWatch(cluster.drivers, 2, port, cluster.tell, ASK_SECONDS)


def answered(watch: DriverWatch) -> None:
    """The driver has answered once; from then on nobody looks where it is."""
    until(lambda: watch._has_answered, 10.0)


def late(port: int) -> AbstractContextManager[None]:
    """A driver that answers that it makes no progress."""
    return answering(port, passes=False)


def gone(_: int) -> AbstractContextManager[None]:
    """A driver whose port is closed."""
    return nullcontext()


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("silence", [stopped, gone, late])
def test_a_driver_that_does_not_answer_any_more_is_told_until_it_does(
    port: int, silence: Callable[[int], AbstractContextManager[None]]
) -> None:
    cluster = Cluster()
    own = watch(cluster, port)
    with own.going_on():
        with answering(port):
            answered(own)
            assert cluster.said == []
        with silence(port):
            until(lambda: cluster.said == ["app-driver-1"], 10.0)
        with answering(port):
            until(lambda: cluster.said == ["app-driver-1", ""], 10.0)


@pytest.mark.usefixtures("process")
def test_a_driver_that_has_never_answered_is_not_judged(port: int) -> None:
    cluster = Cluster()
    with watch(cluster, port).going_on():
        asked_again(cluster, 2 * FAILED_ASKS)
    assert cluster.said == []


@pytest.mark.usefixtures("process")
def test_a_driver_after_the_one_that_answered_is_not_judged_by_that_one(port: int) -> None:
    cluster = Cluster(pods=[driver(1), driver(3)])
    own = DriverWatch(cluster.drivers, 3, port, cluster.tell, ASK_SECONDS)
    with own.going_on():
        with answering(port):
            answered(own)
        cluster.pods = [driver(1, phase="Failed"), driver(2), driver(3)]
        asked_again(cluster, 2 * FAILED_ASKS)
    assert cluster.said == []


@pytest.mark.usefixtures("process")
def test_what_the_api_server_did_not_take_is_told_again(port: int) -> None:
    cluster = Cluster(refusals=2)
    own = watch(cluster, port)
    with own.going_on():
        with answering(port):
            answered(own)
        until(lambda: cluster.said == ["app-driver-1"], 10.0)


@pytest.mark.parametrize(
    ("pods", "name"),
    [
        ([], None),
        ([driver(5)], None),
        ([driver(6)], None),
        ([driver(4, address="")], None),
        ([driver(4, phase="Succeeded")], None),
        ([driver(3), driver(4), driver(5)], "app-driver-4"),
        ([driver(4, phase="Pending"), driver(3)], "app-driver-3"),
    ],
)
def test_the_driver_that_works_is_the_newest_before_the_standby_whose_container_runs(
    pods: list[dict[str, Any]], name: str | None
) -> None:
    running = running_driver(pods, 5)
    assert (running.pod if running else None) == name
