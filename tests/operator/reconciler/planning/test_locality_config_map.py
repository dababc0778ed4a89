"""Where tasks and processors were, kept in a ConfigMap and used for the next start."""

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from streamapp.metadata.locality_manager import LocalityManager
from streamapp.metadata.metadata_store import MetadataStore
from streamapp.placement.locations.store_history import StoreHistory, StorePlace
from streamapp.protocol.driver_report import ExecutorBinding
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.config_maps.config_map_store import ConfigMapStore, binary_data
from streamapp_operator.reconciler.config_maps.locality_draft import LocalityDraft
from tests.harness.api_server.api_server import ApiServer
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join
from tests.streamapp.metadata.metadata_store_contract import StoreContract

_numbers = count(1)


class Straight:
    """A ConfigMap, read and replaced straight at the API server."""

    def __init__(self, server: ApiServer, namespace: str, name: str) -> None:
        self._server = server
        self._all = f"/api/v1/namespaces/{namespace}/configmaps"
        self._name = name

    def read(self) -> Manifest | None:
        code, said = self._server.call("GET", f"{self._all}/{self._name}")
        return json.loads(said) if code == 200 else None

    def replace(self, before: Manifest | None, data: dict[str, str]) -> bool:
        if before is None:
            made = {"metadata": {"name": self._name}, "binaryData": data}
            return self._server.call("POST", self._all, made)[0] == 201
        changed = {**before, "binaryData": data}
        return self._server.call("PUT", f"{self._all}/{self._name}", changed)[0] == 200


class TestConfigMapStore(StoreContract):
    examples = 0.08

    @pytest.fixture
    def fresh(self, api_server: ApiServer, namespace: str) -> Callable[[], MetadataStore]:
        return lambda: ConfigMapStore(Straight(api_server, namespace, f"metadata-{next(_numbers)}"))


def test_writers_that_meet_lose_nothing(api_server: ApiServer, namespace: str) -> None:
    one = ConfigMapStore(Straight(api_server, namespace, "shared"))
    one.put(b"a", b"1")

    class Late(Straight):
        """Another writer comes between its first reading and its writing."""

        met = False

        def read(self) -> Manifest | None:
            found = super().read()
            if not self.met:
                self.met = True
                one.put(b"b", b"2")
            return found

    ConfigMapStore(Late(api_server, namespace, "shared")).put(b"c", b"3")
    assert one.all() == {b"a": b"1", b"b": b"2", b"c": b"3"}


def test_a_hundred_thousand_tasks_fit_into_one_config_map(api_server: ApiServer, namespace: str) -> None:
    store = ConfigMapStore(Straight(api_server, namespace, "large"))
    manager = LocalityManager(store, "run")
    tasks = {f"Partition {n}": f"node-{n * 7919 % 300}.rack-{n % 40}.example" for n in range(100_000)}
    manager.write_task_locality(tasks)
    assert manager.read_task_locality() == tasks
    (text,) = binary_data(store.all()).values()
    assert len(b64decode(text)) < 512 * 1024


def _known(sim: OperatorSim) -> LocalityManager:
    store = ConfigMapStore(LocalityDraft(sim.config_map("app-locality")))
    return LocalityManager(store, sim.model().run_id)


def _report(sim: OperatorSim, *nodes: str) -> None:
    seats = {f"processor-{i}": ExecutorBinding(None, str(i + 1)) for i in range(len(nodes))}
    for number, node in enumerate(nodes, 1):
        sim.executor(number, node=node)
    sim.report(binding=seats)


def _on_node(**spec: Any) -> dict[str, Any]:
    return join(state={"hostPath": {"path": "/data"}}, **spec)


@pytest.fixture
def on_hosts(sim: OperatorSim) -> OperatorSim:
    sim.installation = replace(sim.installation, host_path_roots=("/data",))
    return sim


def test_tasks_are_where_the_executors_of_their_processors_are(on_hosts: OperatorSim) -> None:
    sim = on_hosts
    sim.apply(_on_node())
    sim.settle()
    sim.begin()
    _report(sim, "node-a", "node-b")
    sim.settle()
    known, model = _known(sim), sim.model()
    assert known.read_processor_locality() == {"processor-0": "node-a", "processor-1": "node-b"}
    places = known.read_processor_locality()
    assert known.read_task_locality() == {task.name: places[model.owner(task.name)] for task in model.tasks}


def test_a_location_is_what_the_app_says_it_is(sim: OperatorSim) -> None:
    sim.apply(join(placement={"location": "label:topology.kubernetes.io/zone+node"}))
    sim.settle()
    sim.begin()
    node = f"{sim.namespace}-zoned"
    labels = {"topology.kubernetes.io/zone": "north"}
    sim.server.ask("POST", "/api/v1/nodes", {"metadata": {"name": node, "labels": labels}})
    _report(sim, node, node)
    sim.settle()
    assert set(_known(sim).read_processor_locality().values()) == {f"north+{node}"}


def test_stores_that_end_with_their_pod_are_at_no_other_place(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin()
    _report(sim, "node-a", "node-a")
    sim.settle()
    places = _known(sim).read_processor_locality()
    assert len(set(places.values())) == 2


def test_what_is_known_already_is_not_written_again(on_hosts: OperatorSim) -> None:
    sim = on_hosts
    sim.apply(_on_node())
    sim.settle()
    sim.begin()
    _report(sim, "node-a", "node-b")
    sim.settle()
    before = sim.config_map("app-locality")["metadata"]["resourceVersion"]
    sim.report(warnings=())
    sim.settle()
    assert sim.config_map("app-locality")["metadata"]["resourceVersion"] == before


def test_what_the_driver_remembers_of_stores_outlives_it_and_decides_who_comes_back(
    on_hosts: OperatorSim,
) -> None:
    sim = on_hosts
    sim.apply(_on_node(processors=3))
    sim.settle()
    sim.begin()
    _report(sim, "node-a", "node-b", "node-c")
    sim.settle()
    sim.edit(processors=2)
    sim.settle()
    smaller, now = sim.model().assignment(), int(sim.now)
    at = {"processor-0": "node-a", "processor-1": "node-b"}
    for returning in ({tasks[0] for tasks in smaller.values()}, {tasks[1] for tasks in smaller.values()}):
        history = StoreHistory(
            {
                task: (
                    StorePlace(at[name], 90, now),
                    *([StorePlace("node-c", 80, now)] if task in returning else ()),
                )
                for name, tasks in smaller.items()
                for task in tasks
            }
        )
        sim.report(stores=history)
        sim.settle()
        assert _known(sim).read_store_history() == history
        sim.report(stores=StoreHistory())  # another driver, which has only begun
        sim.edit(processors=3)
        sim.settle()
        assert returning.issuperset(sim.model().assignment()["processor-2"])
        sim.edit(processors=2)
        sim.settle()
        smaller = sim.model().assignment()


def test_the_next_start_prefers_the_places_that_hold_state(on_hosts: OperatorSim) -> None:
    sim = on_hosts
    sim.apply(_on_node(processors=4))
    sim.settle()
    sim.begin()
    _report(sim, "node-a", "node-b", "node-c", "node-d")
    sim.settle()
    before = sim.model()
    sim.pass_time(60)
    for pod in sim.names("pods"):
        sim.remove(pod)
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.model() == before
    assert sim.wanted().locations == {f"processor-{i}": f"node-{n}" for i, n in enumerate("abcd")}
