"""Updates the job model: which task owns which partitions, and on which processor."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamapp.author.model import KnownPlacement, next_model
from streamapp.author.names import processor_names
from streamapp.jobmodel.job_model import JobModel
from streamapp.metadata.locality_manager import LocalityManager
from streamapp.placement.locations.store_history import StoreHistory
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.message_frame import MessageTooLargeError
from streamapp.protocol.wanted_state import WantedState, encode_wanted
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.config_maps.known_locality import known_locality
from streamapp_operator.reconciler.facts.facts import Facts, PublishedRun
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan


@dataclass(frozen=True, slots=True)
class ModelUpdate:
    """The wanted state for the driver, and how it differs from the published one."""

    wanted: WantedState
    tasks_changed: bool = False
    processors_changed: bool = False
    grown: tuple[str, ...] = ()  # new growths of streams, as text


def model_update(
    facts: Facts, accepted: AcceptedApp, plan: GenerationPlan | None, *, replace_all: bool
) -> ModelUpdate | Refusal:
    """The model for an accepted generation; `replace_all`, where no driver runs, places all tasks again."""
    report = facts.run.report
    reported = (report.moved, report.model_version) if report else None
    is_anew = replace_all or facts.run.desired is None
    announced_version = (facts.app.status.get("jobModel") or {}).get("version", 0) if is_anew else 0
    version = (facts.run.locality or {}).get("metadata", {}).get("resourceVersion")
    inputs = (accepted, plan, facts.run.desired, reported, version, replace_all, announced_version)
    return facts.memoized.of(
        (facts.uid, "model"),
        inputs,
        lambda: _model(facts, accepted, plan, replace_all, announced_version),
        facts.cluster.partitions,
    )


def _model(
    facts: Facts,
    accepted: AcceptedApp,
    plan: GenerationPlan | None,
    replace_all: bool,
    announced_version: int,
) -> ModelUpdate | Refusal:
    app, desired = accepted.app, facts.run.desired
    before = desired.wanted.model if desired else None
    assignment = plan.assignment if plan else None
    names = processor_names(app.spec.processors)
    if plan is not None and plan.planned_by_driver and replace_all:
        return _without_model(facts.run, accepted, names)
    if plan is None or assignment is None:
        return _unchanged(facts.run, accepted, before, names)
    run_id = assignment.layout.run or plan.run_id
    assignment = replace(assignment, layout=replace(assignment.layout, run=run_id))
    placement = _known_placement(facts, before, run_id, announced_version)
    followed = next_model(app, assignment, names, placement, reassign=replace_all)
    if isinstance(followed, Refusal):
        return followed
    locations: Mapping[str, str | None]
    if followed.placed:
        locations = {name: location for name, location in followed.locations.items() if location}
    else:
        locations = desired.wanted.locations if desired else {}
    wanted = WantedState(accepted.hash, len(names), followed.model, assignment.layout, locations)
    try:
        encode_wanted(wanted)
    except MessageTooLargeError as error:
        return Refusal(error.reason, "jobModel", error.message, error.hint)
    grown = tuple(
        f"{growth.stream} grew from {growth.before} to {growth.after} partitions{growth.order_note}"
        for growth in assignment.grown
    )
    return ModelUpdate(wanted, followed.tasks_changed, followed.processors_changed, grown)


def _unchanged(
    run: PublishedRun, accepted: AcceptedApp, before: JobModel | None, names: tuple[str, ...]
) -> ModelUpdate:
    """Without a new assignment the model in force stays; without a model the driver plans for itself."""
    if run.desired is None or before is None:
        return _without_model(run, accepted, names)
    return ModelUpdate(replace(run.desired.wanted, spec_hash=accepted.hash))


def _without_model(run: PublishedRun, accepted: AcceptedApp, names: tuple[str, ...]) -> ModelUpdate:
    """For a driver that plans itself, or says first what the app's functions answer.

    Its first report has no layout yet, and the plan of a grown stream needs the one there is.
    """
    desired = run.desired
    same_run = desired is not None and desired.reset_nonce == accepted.app.spec.reset_nonce
    layout = desired.wanted.layout if desired is not None and same_run else None
    return ModelUpdate(WantedState(accepted.hash, len(names), layout=layout))


def _known_placement(
    facts: Facts, before: JobModel | None, run_id: str, announced_version: int
) -> KnownPlacement:
    """The model in force, and the places of its tasks by the driver's report and the locality ConfigMap."""
    locality = known_locality(facts.run.locality, run_id).manager
    report = facts.run.report
    owners: dict[str, str] = {}
    if before is not None and before.run_id == run_id:
        owners = {task: name for name, tasks in before.assignment().items() for task in tasks}
        owners |= report.moved if report else {}
    return KnownPlacement(
        before,
        max(announced_version, report.model_version if report else 0),
        owners,
        locality.read_task_locality(),
        locality.read_processor_locality(),
        _store_history(facts.run, locality, run_id).positions(facts.now),
    )


def _store_history(run: PublishedRun, locality: LocalityManager, run_id: str) -> StoreHistory:
    """The places of stores, as the driver reports them, or as the last one did."""
    report = run.report
    if report is not None and report.run_id == run_id and report.stores.places:
        return report.stores
    return locality.read_store_history()
