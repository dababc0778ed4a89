"""Where executors are is asked of the API server, seldom, and nobody waits for its answer."""

from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest

from streamapp.placement.locations.pod_facts import is_unschedulable
from streamapp.spec.reasons import Reason
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.executors.binding import cannot_come
from streamapp_runtime.driver.executors.executor_locations import (
    AGAIN_SECONDS,
    executor_locations,
    no_locations,
)
from streamapp_runtime.driver.start.user_functions import UserLocations, load_user_functions
from tests.harness.machine.processes import until
from tests.harness.runs.chained_app import chained


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


CODE = "tests.harness.user_code.grouper_code"


def provider(name: str) -> UserLocations:
    functions = load_user_functions(chained(placement={"location": f"{CODE}:{name}"}))
    assert functions.location is not None
    return UserLocations(functions.location)


def test_a_provider_of_the_apps_own_tells_where_executors_are() -> None:
    cluster = Cluster([pod("1", "rack-7-node-2"), pod("2", "rack-7-node-5"), pod("3", "rack-8-node-1")])
    locations = executor_locations(cluster.listed, "node", user_provider=provider("by_name"))
    assert locations({"1", "2", "3"}) == {"1": "rack-7", "2": "rack-7", "3": "rack-8"}


def test_an_executor_of_which_it_knows_nothing_is_at_no_known_place() -> None:
    locations = executor_locations(
        Cluster([pod("1", "rack-7")]).listed, "node", user_provider=provider("nowhere_yet")
    )
    assert locations({"1"}) == {}


@pytest.mark.parametrize("name", ["numbered_place", "unlabelled_place", "long_place", "moody_place"])
def test_one_that_breaks_its_contract_at_the_start_is_refused(name: str) -> None:
    locations = executor_locations(Cluster([pod("1", "rack-7")]).listed, "node", user_provider=provider(name))
    with pytest.raises(AppRefusedError) as caught:
        locations({"1"})
    (problem,) = caught.value.problems
    assert (problem.path, problem.reason) == ("spec.placement.location", Reason.LOCATION_PROVIDER_INVALID)
    assert problem.message.startswith("asked for exec-1, the location provider ")


def test_one_that_fails_later_is_a_warning_and_is_not_asked_of_that_executor_again() -> None:
    cluster = Cluster([pod("1", "rack-7")])
    own = provider("unlabelled_place")
    cluster.pods[0]["metadata"]["labels"]["rack"] = "r7"
    locations = executor_locations(cluster.listed, "node", lambda: cluster.now[0], own)
    assert locations({"1"}) == {"1": "r7"}
    own.starting = False
    cluster.pods.append(pod("2", "rack-8"))
    for _ in range(3):
        cluster.now[0] += AGAIN_SECONDS
        assert locations({"1", "2"}) == {"1": "r7"}
    (problem,) = own.problems
    assert "raised KeyError: 'rack' (in unlabelled_place of" in problem.message


def _unschedulable(executor: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {**pod(executor, ""), "status": {"conditions": [condition]}}


def test_executors_for_which_no_node_has_room_are_counted_beside_the_batches() -> None:
    cluster = Cluster([pod("1", "node-a"), _unschedulable("2")])
    locations = executor_locations(cluster.listed, "node", lambda: cluster.now[0])
    until(lambda: locations.unschedulable() == 1, 30)
    asked = cluster.asked
    assert locations.unschedulable() == 1
    assert cluster.asked == asked
    cluster.pods = [pod("1", "node-a"), pod("2", "node-b")]
    cluster.now[0] += AGAIN_SECONDS
    until(lambda: locations.unschedulable() == 0, 30)


@pytest.mark.usefixtures("process")
def test_an_api_server_that_hangs_holds_nobody_up_who_asks_for_room() -> None:
    answers = Event()

    def listed() -> list[dict[str, Any]]:
        answers.wait(60)
        return [_unschedulable("1")]

    locations = executor_locations(listed, "node")
    assert locations.unschedulable() == 0
    answers.set()
    until(lambda: locations.unschedulable() == 1, 30)


def test_a_pod_that_is_being_deleted_is_not_waited_for_and_not_counted() -> None:
    leaving = _unschedulable("1")
    leaving["metadata"]["deletionTimestamp"] = "2026-11-01T12:00:00Z"
    assert not is_unschedulable(leaving)
    assert is_unschedulable(_unschedulable("1"))
    assert not is_unschedulable(pod("1", "node-a"))


@pytest.mark.parametrize(
    ("present", "unschedulable", "gives_up"),
    [(2, 1, True), (1, 2, True), (1, 1, False), (2, 0, False), (3, 0, False), (3, 1, False), (0, 3, False)],
)
def test_of_three_processors_those_are_not_waited_for_that_have_no_room(
    present: int, unschedulable: int, gives_up: bool
) -> None:
    assert cannot_come(present, 3, unschedulable) is gives_up
