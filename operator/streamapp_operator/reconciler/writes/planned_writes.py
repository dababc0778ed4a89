"""From findings to writes: which objects are made, changed and taken away, and in which order."""

from collections.abc import Iterator
from dataclasses import replace

from streamapp.jobmodel.job_model import JobModel
from streamapp.metadata.locality_manager import LocalityManager
from streamapp.protocol import message_names
from streamapp.protocol.accepted_app import encode_accepted
from streamapp.protocol.driver_report import Report
from streamapp.protocol.wanted_state import WantedState, encode_wanted
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, POD, STATEFUL_SET
from streamapp_operator.reconciler.config_maps.accepted_generation import (
    RAN_ANNOTATION,
    REFUSED_ANNOTATION,
    AcceptedGeneration,
    DriverRefusal,
    annotate_generation,
    generation_config_map,
    refusal_text,
)
from streamapp_operator.reconciler.config_maps.config_map_objects import (
    job_model_config_map,
    report_config_map,
)
from streamapp_operator.reconciler.config_maps.config_map_store import ConfigMapStore
from streamapp_operator.reconciler.config_maps.locality_draft import LocalityDraft
from streamapp_operator.reconciler.driver.driver_actions import (
    DeleteExecutors,
    KeepDriver,
    StartDriver,
    StopDriver,
)
from streamapp_operator.reconciler.driver.driver_history import DriverHistory, DriverOutcome
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.objects import driver_role, object_names, service_accounts
from streamapp_operator.reconciler.objects.driver_service import driver_service
from streamapp_operator.reconciler.objects.object_metadata import is_owned, owner_reference
from streamapp_operator.reconciler.planning.model_update import ModelUpdate
from streamapp_operator.reconciler.pods import embedded_log
from streamapp_operator.reconciler.pods.driver_pod import driver_pod, generation_of
from streamapp_operator.reconciler.writes.reconcile_decision import Apply, Create, Delete, Write


def before_status(view: Findings, history: DriverHistory) -> Iterator[Write]:
    """What may be there whatever follows; `history` has what the status is going to announce."""
    app, made = view.facts.manifest, view.acceptance.made
    if made is not None:
        manifest = generation_config_map(app, made)
        if manifest["metadata"]["name"] in view.facts.unreadable:
            yield Delete(CONFIG_MAP, manifest["metadata"]["name"])
        yield Create(manifest)
    yield from _marks(view, history)
    if isinstance(view.move, StartDriver) and view.target is not None:
        yield from _surroundings(view, view.target)
    if isinstance(view.modelled, ModelUpdate) and _told_now(view, view.modelled):
        yield Apply(_job_model(view, _for_driver(view, view.modelled.wanted), history.incarnation))
    yield from _locality(view)
    if view.target is not None:
        yield from (Apply(one) for one in owned_claims(view.facts, view.target.accepted.app))


def after_status(view: Findings) -> Iterator[Write]:
    """What the status has announced."""
    move, facts = view.move, view.facts
    match move:
        case StartDriver(incarnation=incarnation) if view.target is not None:
            shape = view.target.shape
            if view.target.accepted.app.spec.state.persistent_volume_claim is not None:
                # One that a driver left without any executor would stand in the way of the next one's.
                yield Delete(STATEFUL_SET, object_names.executor_set(facts.uid))
            yield Create(driver_pod(facts.manifest, shape.driver, view.target.generation, incarnation))
            yield from (
                _gone(pod.name, pod.uid) for pod in facts.drivers[:-1] if pod.life is PodLifecycle.ENDED
            )
        case StopDriver(pod=pod, at_once=at_once):
            yield _gone(pod.name, pod.uid, at_once=at_once)
        case DeleteExecutors(executors=executors, at_once=lost):
            yield Delete(STATEFUL_SET, object_names.executor_set(facts.uid))
            yield from (_gone(pod.name, pod.uid) for pod in executors)
            yield from (_gone(pod.name, pod.uid, at_once=True) for pod in lost)
    yield from _expired(view)
    yield from _old_generations(view)


def _surroundings(view: Findings, target: AcceptedGeneration) -> Iterator[Write]:
    """What a driver finds when it starts."""
    app, spec = view.facts.manifest, target.accepted.app.spec
    account = spec.service_account_name or object_names.driver_account(view.facts.name)
    yield Apply(driver_service(app))
    if spec.service_account_name is None:
        yield Apply(service_accounts.driver_service_account(app))
    yield Apply(service_accounts.executor_service_account(app))
    yield Apply(driver_role.driver_role(app, claims=spec.state.persistent_volume_claim is not None))
    yield Apply(driver_role.driver_role_binding(app, account))
    if claim := embedded_log.log_claim(app, target.accepted.app):
        yield Apply(claim)
    if not view.facts.has_report:
        yield Create(report_config_map(app))


def _told_now(view: Findings, modelled: ModelUpdate) -> bool:
    """Whether the driver is to hear of this model: before its start, or live where that needs no restart."""
    if isinstance(view.move, StartDriver):
        return True
    if not isinstance(view.move, KeepDriver) or view.driving.restart or view.facts.desired is None:
        return False
    if modelled.tasks_changed and view.driving.hold is not None:
        return False
    desired, target = view.facts.desired, view.target
    beside = encode_accepted(target.accepted) if target else desired.accepted
    return _for_driver(view, modelled.wanted) != desired.wanted or beside != desired.accepted


def _for_driver(view: Findings, wanted: WantedState) -> WantedState:
    """Addressed to the driver that lives, which knows itself by the generation that it was started with."""
    pod = view.driving.pod
    runs = (
        view.facts.snapshot(generation_of(pod.manifest))
        if pod and isinstance(view.move, KeepDriver)
        else None
    )
    return replace(wanted, spec_hash=runs.accepted.hash) if runs is not None else wanted


def _job_model(view: Findings, wanted: WantedState, incarnation: int) -> Manifest:
    """With the newest accepted app beside it, for what a driver takes up without a restart."""
    desired, target = view.facts.desired, view.target
    nonce = target.accepted.app.spec.reset_nonce if target else 0
    was_reset = desired is not None and (desired.was_reset or desired.reset_nonce < nonce)
    manifest = job_model_config_map(
        view.facts.manifest, encode_wanted(wanted), nonce, incarnation, was_reset=was_reset
    )
    if target is not None:
        manifest["data"][message_names.ACCEPTED] = encode_accepted(target.accepted)
    return manifest


def _marks(view: Findings, history: DriverHistory) -> Iterator[Write]:
    """A snapshot learns what its drivers said of it."""
    last = history.last
    if last is not None and last.outcome is DriverOutcome.CONFIG:
        told = view.facts.snapshot(last.generation)
        if told is not None and told.refused is None and not told.ran:
            refused = DriverRefusal(last.reason, last.path, last.message)
            yield Apply(
                annotate_generation(
                    view.facts.manifest, last.generation, **{REFUSED_ANNOTATION: refusal_text(refused)}
                )
            )
    target, pod = view.target, view.driving.pod
    if view.running and pod is not None and target is not None and not target.ran:
        ran = view.facts.snapshot(generation_of(pod.manifest))
        if ran is not None and not ran.ran:
            yield Apply(annotate_generation(view.facts.manifest, ran.generation, **{RAN_ANNOTATION: "true"}))


def _locality(view: Findings) -> Iterator[Write]:
    """Where the driver says that processors and tasks are, kept for the next placement."""
    report, desired = view.report, view.facts.desired
    if report is None or desired is None or desired.wanted.model is None or not report.binding:
        return
    model = desired.wanted.model
    if report.model_version != model.version:
        return  # its binding is of another model
    version = (view.facts.locality or {}).get("metadata", {}).get("resourceVersion")
    made_of = (report.binding, report.moved, view.facts.locations, model, version)
    manifest = view.facts.worked.of(
        (view.facts.uid, "locality"), made_of, lambda: _kept_locality(view.facts, report, model)
    )
    if manifest is not None:
        yield Apply(manifest)


def _kept_locality(facts: Facts, report: Report, model: JobModel) -> Manifest | None:
    """The ConfigMap with what is new in it; nothing where all was known."""
    drafted = LocalityDraft(facts.locality)
    kept = LocalityManager(ConfigMapStore(drafted), model.run_id)
    found = replace(report, binding=facts.located(report.binding))
    known = kept.read_task_locality()
    tasks: dict[str, str | None] = {**known, **found.task_locality(model)}
    kept.write_task_locality({task.name: tasks.get(task.name) for task in model.tasks})
    places_now = {name: place for name, place in found.processor_locality().items() if place}
    kept.write_processor_locality({**kept.read_processor_locality(), **places_now})
    kept.forget_other_runs()
    return drafted.manifest(facts.manifest) if drafted.changed else None


def _expired(view: Findings) -> Iterator[Write]:
    """Pods of an app that has ended, once nobody is expected to look at them any more."""
    if expires_in(view) == [0.0]:
        yield from (_gone(pod.name, pod.uid) for pod in view.facts.drivers if pod.life is PodLifecycle.ENDED)


def expires_in(view: Findings) -> list[float]:
    """In how many seconds the pods of an app that has ended may go; nothing where there are none to go."""
    last, target = view.driving.history.last, view.target
    ttl = target.accepted.app.spec.ttl_seconds_after_finished if target else None
    ended = any(pod.life is PodLifecycle.ENDED for pod in view.facts.drivers)
    if last is None or ttl is None or view.driving.over is None or not ended:
        return []
    return [max(0.0, last.at + ttl - view.facts.now)]


def _old_generations(view: Findings) -> Iterator[Write]:
    """Accepted generations that nothing can come back to."""
    snapshots, target = view.facts.snapshots, view.target
    if view.acceptance.made is not None or target is None:
        return
    running = {generation_of(pod.manifest) for pod in view.facts.drivers}
    last = view.driving.history.last
    needed = running | {target.generation, last.generation if last else 0, view.facts.newest.generation}
    spare = [one.generation for one in snapshots if one.generation not in needed and not one.refused]
    fallback = spare[-1:] if not target.ran else []
    for one in snapshots:
        if one.generation not in needed and one.generation not in fallback:
            yield Delete(CONFIG_MAP, object_names.accepted(view.facts.name, one.generation))


def _gone(name: str, uid: str, *, at_once: bool = False) -> Delete:
    return Delete(POD, name, uid, 0 if at_once else None)


def owned_claims(facts: Facts, app: StreamApp) -> Iterator[Manifest]:
    """What to apply to claims that are not as `state.reclaimPolicy` wants them."""
    wanted = app.spec.state.reclaim_policy == "Delete"
    for claim in facts.claims:
        metadata = claim["metadata"]
        if is_owned(claim, facts.manifest) is wanted:
            continue
        if metadata["name"] == embedded_log.log_claim_name(facts.name):
            if made := embedded_log.log_claim(facts.manifest, app):
                yield made
            continue
        found: Manifest = {"name": metadata["name"], "namespace": metadata["namespace"]}
        if wanted:
            found["ownerReferences"] = [owner_reference(facts.manifest)]
        yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": found}
