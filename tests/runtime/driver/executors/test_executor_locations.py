"""Where executors are is asked of the API server, seldom, and nobody waits for its answer."""

from dataclasses import dataclass, field
from typing import Any

from streamapp_runtime.driver.executors.executor_locations import (
    AGAIN_SECONDS,
    executor_locations,
    no_locations,
)


@dataclass
class Cluster:
    pods: list[dict[str, Any]]
    asked: int = 0
    now: list[float] = field(default_factory=lambda: [0.0])

    def listed(self) -> list[dict[str, Any]]:
        self.asked += 1
        return self.pods


def pod(executor: str, node: str) -> dict[str, Any]:
    return {
        "metadata": {
            "name": f"exec-{executor}",
            "uid": f"uid-{executor}",
            "labels": {"spark-exec-id": executor},
        },
        "spec": {"nodeName": node},
    }


def test_executors_are_where_their_pods_are() -> None:
    cluster = Cluster([pod("1", "node-a"), pod("2", "node-b")])
    assert executor_locations(cluster.listed, "node")({"1", "2"}) == {"1": "node-a", "2": "node-b"}
    assert executor_locations(cluster.listed, "pod")({"2"}) == {"2": "uid-2"}


def test_one_that_was_seen_is_not_asked_for_again() -> None:
    cluster = Cluster([pod("1", "node-a")])
    places = executor_locations(cluster.listed, "node")
    for _ in range(3):
        assert places({"1"}) == {"1": "node-a"}
    assert cluster.asked == 1


def test_one_that_is_not_known_yet_is_asked_for_again_after_a_while() -> None:
    cluster = Cluster([])
    places = executor_locations(cluster.listed, "node", lambda: cluster.now[0])
    assert places({"1"}) == {}
    cluster.pods.append(pod("1", "node-a"))
    assert places({"1"}) == {}
    cluster.now[0] += AGAIN_SECONDS
    assert places({"1"}) == {"1": "node-a"}


def test_an_api_server_that_is_away_leaves_places_unknown() -> None:
    def away() -> list[dict[str, Any]]:
        raise OSError("connection refused")

    assert executor_locations(away, "node")({"1"}) == {}


def test_a_pod_without_a_number_or_a_node_tells_no_place() -> None:
    fresh = pod("2", "")
    nameless = {"metadata": {"name": "exec-3"}, "spec": {"nodeName": "node-a"}}
    assert executor_locations(Cluster([fresh, nameless]).listed, "node")({"2", "3"}) == {}


def test_where_no_pods_are_nobody_is_asked() -> None:
    assert executor_locations(Cluster([]).listed, "") is no_locations
