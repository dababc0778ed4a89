"""Why tasks are where the operator has placed them, as a driver tells it."""

from streamapp.author.model import KnownPlacement, next_model
from streamapp.placement.placement_reason import PlacementReason
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.modes.wanted_model import placement_reasons
from tests.harness.runs.chained_app import chained

TASKS = {f"Partition {number}": (Partition("events", number),) for number in range(4)}
ASSIGNMENT = Assignment(
    TASKS, (), Layout("run-1", "partition", changelog={task: n for n, task in enumerate(TASKS)})
)
OWNERS = {task: f"processor-{number % 3}" for number, task in enumerate(TASKS)}


def test_a_driver_gives_the_reasons_by_which_the_operator_has_placed_the_tasks() -> None:
    known = KnownPlacement(
        owners=OWNERS,
        task_locations={task: f"node-{owner[-1]}" for task, owner in OWNERS.items()},
        processor_locations={"processor-0": "node-0", "processor-1": "node-1"},
        stores={"Partition 2": {"node-2": 90, "node-1": 60}},
    )
    placed = next_model(chained(), ASSIGNMENT, ["processor-0", "processor-1"], known, reassign=True)
    assert not isinstance(placed, Refusal)
    assert placed.placement is not None
    reasons = placement_reasons(placed.model, placed.locations, known)
    assert reasons == placed.placement.reasons()
    assert reasons == {
        "Partition 0": PlacementReason.STAYED,
        "Partition 1": PlacementReason.STAYED,
        "Partition 2": PlacementReason.RETURNED_LOCATION_GONE,
        "Partition 3": PlacementReason.STAYED,
    }
