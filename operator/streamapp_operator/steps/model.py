"""The job model that a driver is to run: who owns which partitions, and on which processor."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamapp.jobmodel.content import following
from streamapp.jobmodel.model import JobModel
from streamapp.jobmodel.task import TaskModel
from streamapp.metadata.locality import LocalityManager
from streamapp.placement.place import place
from streamapp.protocol.accepted import Accepted
from streamapp.protocol.message import MessageTooLargeError
from streamapp.protocol.wanted import Wanted, encode_wanted
from streamapp.tasks.refusal import Refusal
from streamapp_operator.facts.facts import Facts
from streamapp_operator.locality.config_map_store import ConfigMapStore
from streamapp_operator.locality.drafted import Drafted
from streamapp_operator.steps.author import Authored, processor_names


@dataclass(frozen=True, slots=True)
class Modelled:
    """What is wanted of the next driver, and how it differs from what the last one was told."""

    wanted: Wanted
    tasks_changed: bool = False
    processors_changed: bool = False
    grown: tuple[str, ...] = ()  # growths seen for the first time, in words


def model(facts: Facts, accepted: Accepted, authored: Authored | None, *, anew: bool) -> Modelled | Refusal:
    """The model for an accepted generation; `anew` places all tasks again, for no driver holds any."""
    report = facts.report
    told = (report.moved, report.model_version) if report else None
    version = (facts.locality or {}).get("metadata", {}).get("resourceVersion")
    made_of = (accepted, authored, facts.desired, told, version, anew)
    return facts.worked.of((facts.uid, "model"), made_of, lambda: _model(facts, accepted, authored, anew))


def _model(facts: Facts, accepted: Accepted, authored: Authored | None, anew: bool) -> Modelled | Refusal:
    before = facts.desired.wanted.model if facts.desired else None
    assignment = authored.assignment if authored else None
    names = tuple(processor_names(accepted.app.spec.processors))
    if authored is None or assignment is None:
        return _as_it_was(facts, accepted, before, names)
    tasks = [
        TaskModel(name, partitions, assignment.layout.changelog.get(name))
        for name, partitions in assignment.tasks.items()
    ]
    proposed = JobModel.of(
        version=_next_version(facts, before),
        run_id=assignment.layout.run or authored.run,
        application_id=accepted.app.application_id,
        tasks=tasks,
        processors={name: [] for name in names} | {names[0]: [task.name for task in tasks]},
        broadcast=assignment.broadcast,
        shared=accepted.app.spec.grouper == "single",
    )
    tasks_changed = before is None or (before.tasks, before.broadcast, before.run_id) != (
        proposed.tasks,
        proposed.broadcast,
        proposed.run_id,
    )
    processors_changed = before is None or before.processors != proposed.processors
    places: Mapping[str, str | None] = facts.desired.wanted.locations if facts.desired else {}
    if anew or tasks_changed or processors_changed:
        placed = _placed(facts, accepted, proposed, before)
        if isinstance(placed, Refusal):
            return placed
        proposed, places = placed
    elif before is not None:
        proposed = replace(proposed, owners=before.owners)
    followed = following(before, proposed)
    layout = replace(assignment.layout, run=proposed.run_id)
    grown = tuple(
        f"{one.stream} grew from {one.before} to {one.after} partitions" for one in assignment.grown
    )
    wanted = Wanted(accepted.hash, len(names), followed, layout, places)
    try:
        encode_wanted(wanted)
    except MessageTooLargeError as error:
        return Refusal(error.reason, "jobModel", error.message, error.hint)
    return Modelled(wanted, tasks_changed, processors_changed, grown)


def _as_it_was(facts: Facts, accepted: Accepted, before: JobModel | None, names: tuple[str, ...]) -> Modelled:
    """Without tasks of today the model in force stays; without any the driver is the author."""
    if facts.desired is None or before is None:
        return Modelled(Wanted(accepted.hash, len(names)))
    return Modelled(replace(facts.desired.wanted, spec_hash=accepted.hash))


def _next_version(facts: Facts, before: JobModel | None) -> int:
    """One more than any that a driver may have seen, also where our own copy was lost."""
    told = facts.report.model_version if facts.report else 0
    return max(told, before.version if before else 0) + (before is None)


def _placed(
    facts: Facts, accepted: Accepted, proposed: JobModel, before: JobModel | None
) -> tuple[JobModel, Mapping[str, str | None]] | Refusal:
    tasks_at: Mapping[str, str | None] = {}
    processors_at: Mapping[str, str | None] = {}
    previous: Mapping[str, str] = {}
    if accepted.app.spec.placement.host_affinity:
        known = LocalityManager(ConfigMapStore(Drafted(facts.locality)), proposed.run_id)
        tasks_at, processors_at = known.read_task_locality(), known.read_processor_locality()
        if before is not None and before.run_id == proposed.run_id:
            names = zip(before.tasks, before.owners, strict=True)
            previous = {task.name: before.processors[owner] for task, owner in names}
            previous = {**previous, **(facts.report.moved if facts.report else {})}
    places = {name: processors_at.get(name) for name in proposed.processors}
    found = place([task.name for task in proposed.tasks], tasks_at, places, previous)
    if isinstance(found, Refusal):
        return found
    number = {name: index for index, name in enumerate(proposed.processors)}
    owners = tuple(number[found.processor_of[task.name]] for task in proposed.tasks)
    return replace(proposed, owners=owners), {name: place for name, place in places.items() if place}
