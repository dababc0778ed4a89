"""The next job model of an app: composed once, for the operator, for a driver and for `streamapp run`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.model_content import next_version
from streamapp.jobmodel.task_model import TaskModel
from streamapp.placement.locations.store_history import StorePositions
from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.refusal import Refusal

Locations = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class KnownPlacement:
    """The model in force and the places of its tasks and processors, as far as they are known."""

    model: JobModel | None = None
    version: int = 0  # the newest that any driver has seen, also where the model itself was lost
    owners: Mapping[str, str] = field(default_factory=dict)  # task -> the processor that runs it now
    task_locations: Locations = field(default_factory=dict)  # where the state of each task lies
    processor_locations: Locations = field(default_factory=dict)
    stores: StorePositions = field(default_factory=dict)  # all places where stores of tasks lie


@dataclass(frozen=True, slots=True)
class NextModel:
    """A model to run, and how it differs from the one in force."""

    model: JobModel
    locations: Locations  # processor -> where it was taken to be, None where that is not known
    placement: TaskPlacement | None  # None where all tasks stay where the model in force has them
    tasks_changed: bool
    processors_changed: bool

    @property
    def placed(self) -> bool:
        """True if tasks were placed for the model."""
        return self.placement is not None


def next_model(
    app: StreamApp,
    assignment: Assignment,
    processors: Sequence[str],
    known: KnownPlacement,
    *,
    reassign: bool = False,
) -> NextModel | Refusal:
    """The model of these tasks on these processors; the model in force where nothing differs.

    Tasks are placed where they or the processors changed, or where `reassign` says that nothing holds them to
    the processors of the model in force. Without host affinity no location counts.
    """
    before, run_id = known.model, assignment.layout.run
    tasks = tuple(
        TaskModel(name, tuple(sorted(partitions)), assignment.layout.changelog.get(name))
        for name, partitions in sorted(assignment.tasks.items())
    )
    broadcast = tuple(sorted(assignment.broadcast))
    tasks_changed = before is None or (before.tasks, before.broadcast, before.run_id) != (
        tasks,
        broadcast,
        run_id,
    )
    processors_changed = before is None or before.processors != tuple(sorted(processors))
    affine = app.spec.placement.host_affinity
    locations = {name: known.processor_locations.get(name) if affine else None for name in processors}
    placement: TaskPlacement | None = None
    if before is not None and not (reassign or tasks_changed or processors_changed):
        tasks_of: Mapping[str, Sequence[str]] = before.assignment()
    else:
        task_locations, stores = (known.task_locations, known.stores) if affine else ({}, {})
        placed = place_tasks(assignment.tasks, task_locations, locations, known.owners, stores=stores)
        if isinstance(placed, Refusal):
            return placed
        placement = placed
        tasks_of = placement.tasks_of()
    proposed = JobModel.of(
        version=known.version + 1,
        run_id=run_id,
        application_id=app.application_id,
        tasks=tasks,
        processors=tasks_of,
        broadcast=broadcast,
    )
    model = next_version(before, proposed)
    if model is not before:
        model = replace(model, version=max(model.version, proposed.version))
    return NextModel(model, locations, placement, tasks_changed, processors_changed)
