"""A grouper, an expansion algorithm and a location provider of the app's own, asked in the app's image."""

from streamapp.protocol.message_names import REPORT, WANTED
from streamapp.protocol.report_codec import decode_report
from streamapp.protocol.wanted_state import decode_wanted
from streamapp.spec.resource.config_keys import ALGORITHM
from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT, Space
from tests.harness.cluster.app_traffic import Traffic
from tests.harness.cluster.cluster_broker import grow
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.cluster.waiting import until

APP = "own"


def tasks(space: Space) -> dict[str, list[int]]:
    """The tasks of the model in force, and which partitions of the views each of them has."""
    model = decode_wanted(space.data(f"{APP}-job-model")[WANTED]).model
    assert model is not None
    return {
        task.name: [one.index for one in task.partitions if one.stream == "views"] for task in model.tasks
    }


def test_tasks_growths_and_places_are_as_the_app_says_and_wrong_code_is_refused(
    kind: Cluster, new_space: NewSpace
) -> None:
    space, traffic = new_space(APP), Traffic(APP)
    traffic.begin(partitions=4)
    traffic.view()
    space.play("own-functions/01")
    assert tasks(space) == {"east": [0, 2], "west": [1, 3]}
    until(traffic.wrong, LIMIT)
    binding = decode_report(space.data(f"{APP}-report")[REPORT]).binding
    nodes = {f"machine of {pod['spec']['nodeName']}" for pod in space.pods(APP, "executor")}
    assert {seat.location for seat in binding.values()} == nodes

    grow(kind, traffic.topic("views"), 8)
    space.looks_like("own-functions/02-assert")
    assert tasks(space) == {"east": [0, 2, 4, 6], "west": [1, 3, 5, 7]}
    traffic.view()
    until(traffic.wrong, LIMIT)

    space.edit(APP, config={ALGORITHM: "spread:broken"})
    space.looks_like("own-functions/03-assert")
    message = space.condition(APP, "Accepted")["message"]
    assert "raised LookupError: nobody knows where the keys were (in broken of spread, line " in message
    traffic.view()
    until(traffic.wrong, LIMIT)
