"""The job model that a driver is to run: who owns which partitions, and on which processor."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamapp.author.model import KnownPlacement, next_model
from streamapp.author.names import processor_names
from streamapp.jobmodel.job_model import JobModel
from streamapp.metadata.locality_manager import LocalityManager
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.message_frame import MessageTooLargeError
from streamapp.protocol.wanted_state import WantedState, encode_wanted
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.config_maps.config_map_store import ConfigMapStore
from streamapp_operator.reconciler.config_maps.locality_draft import LocalityDraft
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan


@dataclass(frozen=True, slots=True)
class ModelUpdate:
    """What is wanted of the next driver, and how it differs from what the last one was told."""

    wanted: WantedState
    tasks_changed: bool = False
    processors_changed: bool = False
    grown: tuple[str, ...] = ()  # growths seen for the first time, in words


def model_update(
    facts: Facts, accepted: AcceptedApp, authored: GenerationPlan | None, *, anew: bool
) -> ModelUpdate | Refusal:
    """The model for an accepted generation; `anew` places all tasks again, for no driver holds any."""
    report = facts.report
    told = (report.moved, report.model_version) if report else None
    version = (facts.locality or {}).get("metadata", {}).get("resourceVersion")
    made_of = (accepted, authored, facts.desired, told, version, anew)
    return facts.worked.of((facts.uid, "model"), made_of, lambda: _model(facts, accepted, authored, anew))


def _model(
    facts: Facts, accepted: AcceptedApp, authored: GenerationPlan | None, anew: bool
) -> ModelUpdate | Refusal:
    app, desired = accepted.app, facts.desired
    before = desired.wanted.model if desired else None
    assignment = authored.assignment if authored else None
    names = processor_names(app.spec.processors)
    if authored is None or assignment is None:
        return _as_it_was(facts, accepted, before, names)
    run_id = assignment.layout.run or authored.run
    assignment = replace(assignment, layout=replace(assignment.layout, run=run_id))
    found = next_model(app, assignment, names, _known(facts, before, run_id), reassign=anew)
    if isinstance(found, Refusal):
        return found
    locations: Mapping[str, str | None]
    if found.placed:
        locations = {name: place for name, place in found.locations.items() if place}
    else:
        locations = desired.wanted.locations if desired else {}
    wanted = WantedState(accepted.hash, len(names), found.model, assignment.layout, locations)
    try:
        encode_wanted(wanted)
    except MessageTooLargeError as error:
        return Refusal(error.reason, "jobModel", error.message, error.hint)
    grown = tuple(
        f"{one.stream} grew from {one.before} to {one.after} partitions" for one in assignment.grown
    )
    return ModelUpdate(wanted, found.tasks_changed, found.processors_changed, grown)


def _as_it_was(
    facts: Facts, accepted: AcceptedApp, before: JobModel | None, names: tuple[str, ...]
) -> ModelUpdate:
    """Without tasks of today the model in force stays; without any the driver is the author."""
    if facts.desired is None or before is None:
        return ModelUpdate(WantedState(accepted.hash, len(names)))
    return ModelUpdate(replace(facts.desired.wanted, spec_hash=accepted.hash))


def _known(facts: Facts, before: JobModel | None, run_id: str) -> KnownPlacement:
    """The model in force, and where its tasks are, as far as the driver and our own notes tell."""
    notes = LocalityManager(ConfigMapStore(LocalityDraft(facts.locality)), run_id)
    report = facts.report
    owners: dict[str, str] = {}
    if before is not None and before.run_id == run_id:
        owners = {task: name for name, tasks in before.assignment().items() for task in tasks}
        owners |= report.moved if report else {}
    return KnownPlacement(
        before,
        report.model_version if report else 0,
        owners,
        notes.read_task_locality(),
        notes.read_processor_locality(),
    )
