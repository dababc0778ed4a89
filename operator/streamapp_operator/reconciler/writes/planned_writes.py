"""From findings to writes: the objects to create, apply and delete, in order."""

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


def before_status(findings: Findings, history: DriverHistory) -> Iterator[Write]:
    """The writes before the status, harmless whatever follows; `history` has the announced action."""
    app, new_generation = findings.facts.manifest, findings.acceptance.new_generation
    if new_generation is not None:
        manifest = generation_config_map(app, new_generation)
        if manifest["metadata"]["name"] in findings.facts.unreadable_config_maps:
            yield Delete(CONFIG_MAP, manifest["metadata"]["name"])
        yield Create(manifest)
    yield from _annotations(findings, history)
    if isinstance(findings.action, StartDriver) and findings.target is not None:
        yield from _driver_prerequisites(findings, findings.target)
    if isinstance(findings.model, ModelUpdate) and _publishes_model(findings, findings.model):
        yield Apply(_job_model(findings, _for_driver(findings, findings.model.wanted), history.incarnation))
    yield from _locality(findings)
    if findings.target is not None:
        yield from (Apply(claim) for claim in owned_claims(findings.facts, findings.target.accepted.app))


def after_status(findings: Findings) -> Iterator[Write]:
    """The writes that the status has announced."""
    action, facts = findings.action, findings.facts
    match action:
        case StartDriver(incarnation=incarnation) if findings.target is not None:
            shape = findings.target.shape
            if findings.target.accepted.app.spec.state.persistent_volume_claim is not None:
                # A StatefulSet that the last driver left would collide with the next driver's.
                yield Delete(STATEFUL_SET, object_names.executor_set(facts.uid))
            yield Create(driver_pod(facts.manifest, shape.driver, findings.target.generation, incarnation))
            yield from (
                _delete_pod(pod.name, pod.uid) for pod in facts.drivers[:-1] if pod.life is PodLifecycle.ENDED
            )
        case StopDriver(pod=pod, at_once=at_once):
            yield _delete_pod(pod.name, pod.uid, at_once=at_once)
        case DeleteExecutors(executors=executors, at_once=lost_executors):
            yield Delete(STATEFUL_SET, object_names.executor_set(facts.uid))
            yield from (_delete_pod(pod.name, pod.uid) for pod in executors)
            yield from (_delete_pod(pod.name, pod.uid, at_once=True) for pod in lost_executors)
    yield from _expired_pods(findings)
    yield from _old_generations(findings)


def _driver_prerequisites(findings: Findings, target: AcceptedGeneration) -> Iterator[Write]:
    """The objects that a driver needs at its start."""
    app, spec = findings.facts.manifest, target.accepted.app.spec
    account = spec.service_account_name or object_names.driver_account(findings.facts.name)
    yield Apply(driver_service(app))
    if spec.service_account_name is None:
        yield Apply(service_accounts.driver_service_account(app))
    yield Apply(service_accounts.executor_service_account(app))
    yield Apply(driver_role.driver_role(app, claims=spec.state.persistent_volume_claim is not None))
    yield Apply(driver_role.driver_role_binding(app, account))
    if claim := embedded_log.log_claim(app, target.accepted.app):
        yield Apply(claim)
    if not findings.facts.has_report:
        yield Create(report_config_map(app))


def _publishes_model(findings: Findings, update: ModelUpdate) -> bool:
    """Whether to publish this model: before a start, or live where no restart is needed."""
    if isinstance(findings.action, StartDriver):
        return True
    if (
        not isinstance(findings.action, KeepDriver)
        or findings.driver.restart
        or findings.facts.desired is None
    ):
        return False
    if update.tasks_changed and findings.driver.seconds_to_wait is not None:
        return False
    desired, target = findings.facts.desired, findings.target
    accepted_text = encode_accepted(target.accepted) if target else desired.accepted
    return _for_driver(findings, update.wanted) != desired.wanted or accepted_text != desired.accepted


def _for_driver(findings: Findings, wanted: WantedState) -> WantedState:
    """The wanted state with the spec hash of the running driver's generation, which the driver checks."""
    pod = findings.driver.pod
    running_generation = (
        findings.facts.accepted_generation(generation_of(pod.manifest))
        if pod and isinstance(findings.action, KeepDriver)
        else None
    )
    return (
        replace(wanted, spec_hash=running_generation.accepted.hash)
        if running_generation is not None
        else wanted
    )


def _job_model(findings: Findings, wanted: WantedState, incarnation: int) -> Manifest:
    """The job model's ConfigMap, with the newest accepted app for changes that need no restart."""
    desired, target = findings.facts.desired, findings.target
    reset_nonce = target.accepted.app.spec.reset_nonce if target else 0
    was_reset = desired is not None and (desired.was_reset or desired.reset_nonce < reset_nonce)
    manifest = job_model_config_map(
        findings.facts.manifest, encode_wanted(wanted), reset_nonce, incarnation, was_reset=was_reset
    )
    if target is not None:
        manifest["data"][message_names.ACCEPTED] = encode_accepted(target.accepted)
    return manifest


def _annotations(findings: Findings, history: DriverHistory) -> Iterator[Write]:
    """The annotations of generations with their drivers' results."""
    last = history.last
    if last is not None and last.outcome is DriverOutcome.CONFIG:
        generation = findings.facts.accepted_generation(last.generation)
        if generation is not None and generation.driver_refusal is None and not generation.ran:
            refusal = DriverRefusal(last.reason, last.path, last.message)
            yield Apply(
                annotate_generation(
                    findings.facts.manifest, last.generation, **{REFUSED_ANNOTATION: refusal_text(refusal)}
                )
            )
    target, pod = findings.target, findings.driver.pod
    if findings.running and pod is not None and target is not None and not target.ran:
        ran_generation = findings.facts.accepted_generation(generation_of(pod.manifest))
        if ran_generation is not None and not ran_generation.ran:
            yield Apply(
                annotate_generation(
                    findings.facts.manifest, ran_generation.generation, **{RAN_ANNOTATION: "true"}
                )
            )


def _locality(findings: Findings) -> Iterator[Write]:
    """The reported locality of processors and tasks, kept for the next placement."""
    report, desired = findings.report, findings.facts.desired
    if report is None or desired is None or desired.wanted.model is None or not report.binding:
        return
    model = desired.wanted.model
    if report.model_version != model.version:
        return  # the binding is of another model
    version = (findings.facts.locality or {}).get("metadata", {}).get("resourceVersion")
    inputs = (report.binding, report.moved, report.stores, findings.facts.locations, model, version)
    manifest = findings.facts.memoized.of(
        (findings.facts.uid, "locality"), inputs, lambda: _updated_locality(findings.facts, report, model)
    )
    if manifest is not None:
        yield Apply(manifest)


def _updated_locality(facts: Facts, report: Report, model: JobModel) -> Manifest | None:
    """The locality ConfigMap with the new entries; None where nothing changed."""
    draft = LocalityDraft(facts.locality)
    locality = LocalityManager(ConfigMapStore(draft), model.run_id)
    located_report = replace(report, binding=facts.located(report.binding))
    known_tasks = locality.read_task_locality()
    tasks: dict[str, str | None] = {**known_tasks, **located_report.task_locality(model)}
    locality.write_task_locality({task.name: tasks.get(task.name) for task in model.tasks})
    locations = {name: location for name, location in located_report.processor_locality().items() if location}
    locality.write_processor_locality({**locality.read_processor_locality(), **locations})
    if report.run_id == model.run_id and report.stores.places:
        locality.write_store_history(report.stores)
    locality.forget_other_runs()
    return draft.manifest(facts.manifest) if draft.changed else None


def _expired_pods(findings: Findings) -> Iterator[Write]:
    """Deletes the pods of an ended app after `ttlSecondsAfterFinished`."""
    if expires_in(findings) == [0.0]:
        yield from (
            _delete_pod(pod.name, pod.uid) for pod in findings.facts.drivers if pod.life is PodLifecycle.ENDED
        )


def expires_in(findings: Findings) -> list[float]:
    """Seconds until the pods of an ended app expire; empty where there are none."""
    last, target = findings.driver.history.last, findings.target
    ttl = target.accepted.app.spec.ttl_seconds_after_finished if target else None
    ended = any(pod.life is PodLifecycle.ENDED for pod in findings.facts.drivers)
    if last is None or ttl is None or findings.driver.finished is None or not ended:
        return []
    return [max(0.0, last.at + ttl - findings.facts.now)]


def _old_generations(findings: Findings) -> Iterator[Write]:
    """Deletes accepted generations that are not needed for a fallback."""
    generations, target = findings.facts.generations, findings.target
    if findings.acceptance.new_generation is not None or target is None:
        return
    running = {generation_of(pod.manifest) for pod in findings.facts.drivers}
    last_ending = findings.driver.history.last
    needed = running | {
        target.generation,
        last_ending.generation if last_ending else 0,
        findings.facts.newest.generation,
    }
    unneeded = [
        accepted.generation
        for accepted in generations
        if accepted.generation not in needed and not accepted.driver_refusal
    ]
    fallback = unneeded[-1:] if not target.ran else []
    for accepted in generations:
        if accepted.generation not in needed and accepted.generation not in fallback:
            yield Delete(CONFIG_MAP, object_names.accepted(findings.facts.name, accepted.generation))


def _delete_pod(name: str, uid: str, *, at_once: bool = False) -> Delete:
    return Delete(POD, name, uid, 0 if at_once else None)


def owned_claims(facts: Facts, app: StreamApp) -> Iterator[Manifest]:
    """The patches of claims whose owner does not match `state.reclaimPolicy`."""
    owns_claims = app.spec.state.reclaim_policy == "Delete"
    for claim in facts.claims:
        metadata = claim["metadata"]
        is_log = metadata["name"] == embedded_log.log_claim_name(facts.name)
        if not is_log and not object_names.is_executor_claim(metadata["name"], facts.uid):
            continue  # somebody else's, or an earlier app's of that name
        if is_owned(claim, facts.manifest) is owns_claims:
            continue
        if is_log:
            if log_claim := embedded_log.log_claim(facts.manifest, app):
                yield log_claim
            continue
        metadata_patch: Manifest = {"name": metadata["name"], "namespace": metadata["namespace"]}
        if owns_claims:
            metadata_patch["ownerReferences"] = [owner_reference(facts.manifest)]
        yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata_patch}
