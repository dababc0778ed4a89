"""From findings to writes: the objects to create, apply and delete, in order."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from streamapp.jobmodel.job_model import JobModel
from streamapp.protocol.driver_report import Report
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, NETWORK_POLICY, POD, STATEFUL_SET
from streamapp_operator.reconciler.condition_reasons import ConditionReason
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
    report_config_map,
)
from streamapp_operator.reconciler.config_maps.known_locality import known_locality
from streamapp_operator.reconciler.driver.driver_actions import (
    AwaitPods,
    DeleteExecutors,
    KeepDriver,
    StartDriver,
    StopDriver,
)
from streamapp_operator.reconciler.driver.driver_history import DriverHistory, DriverOutcome
from streamapp_operator.reconciler.driver.taken_names import adopted_names
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.configuration_versions import (
    configuration_annotation,
    named_versions,
)
from streamapp_operator.reconciler.objects.driver_objects import driver_objects
from streamapp_operator.reconciler.objects.object_metadata import is_owned, owner_reference
from streamapp_operator.reconciler.planning.model_update import ModelUpdate
from streamapp_operator.reconciler.pods import embedded_log
from streamapp_operator.reconciler.pods.driver_pod import driver_pod, generation_of, has_run_secret
from streamapp_operator.reconciler.writes.history_writes import surplus_revisions
from streamapp_operator.reconciler.writes.published_model import published_model, publishes_model
from streamapp_operator.reconciler.writes.reconcile_decision import (
    Adopt,
    Apply,
    Create,
    CreateRunSecret,
    Delete,
    StatusEvent,
    Write,
)


def before_status(findings: Findings, history: DriverHistory) -> Iterator[Write]:
    """The writes before the status, harmless whatever follows; `history` has the announced action."""
    app, new_generation = findings.facts.app.manifest, findings.acceptance.new_generation
    if findings.taken_names or findings.facts.run.adopted_generations:
        yield from adoptions(findings.facts)
    if findings.taken_names:
        return  # nothing else is written before all names are free
    if new_generation is not None:
        manifest = generation_config_map(app, new_generation)
        if manifest["metadata"]["name"] in findings.facts.run.unreadable:
            yield Delete(CONFIG_MAP, manifest["metadata"]["name"])
        yield Create(manifest)
    yield from _annotations(findings, history)
    if isinstance(findings.action, StartDriver) and findings.target is not None:
        if findings.target.accepted.app.spec.state.persistent_volume_claim is not None:
            # A StatefulSet that the last driver left would collide with the next driver's. A standby driver
            # takes over, and makes its own, as soon as the model is published.
            yield Delete(STATEFUL_SET, object_names.executor_set(findings.facts.uid))
        yield from _driver_prerequisites(findings, findings.target)
    coming_pods = [findings.driver.successor.standby]
    if isinstance(findings.action, KeepDriver):
        coming_pods.append(findings.action.pod)
    for pod in coming_pods:  # a crash may have come between the pod and its Secret
        if pod is not None and pod.life is PodLifecycle.COMING and has_run_secret(pod.manifest):
            yield CreateRunSecret(pod.name)
    if isinstance(findings.model, ModelUpdate) and publishes_model(findings, findings.model):
        yield Apply(published_model(findings, findings.model, history.incarnation))
    yield from _locality(findings)
    yield from _unwanted_network_policy(findings)
    if findings.target is not None:
        yield from (
            Apply(claim, must_exist=True)
            for claim in owned_claims(findings.facts, findings.target.accepted.app)
        )


def adoptions(facts: Facts) -> Iterator[Adopt]:
    """The writes by which the app becomes the owner of what a deleted app of its name left."""
    left = sorted(adopted_names(facts), key=lambda taken: taken.kind == POD.name)  # drivers once all else is
    generations = {
        taken.name: object_names.accepted_generation_in(taken.name)
        for taken in left
        if taken.kind == CONFIG_MAP.name
    }
    last = facts.run.adopted_generations or max(generations.values(), default=0)
    for taken in left:
        yield Adopt(taken.manifest, last if generations.get(taken.name) else 0)


def after_status(findings: Findings) -> Iterator[Write]:
    """The writes that the status has announced."""
    action, facts = findings.action, findings.facts
    match action:
        case StartDriver(incarnation=incarnation) if findings.target is not None:
            if findings.driver.successor.standby is None:
                yield from _new_driver(findings, findings.target, incarnation)
            yield from (
                _delete_pod(former.name, former.uid)
                for former in facts.pods.drivers[:-1]
                if former.life is PodLifecycle.ENDED
            )
        case StopDriver(pod=pod, grace_seconds=grace_seconds):
            yield _delete_pod(pod.name, pod.uid, grace_seconds)
        case DeleteExecutors(executors=executors, at_once=lost_executors):
            yield Delete(STATEFUL_SET, object_names.executor_set(facts.uid))
            yield from (_delete_pod(pod.name, pod.uid) for pod in executors)
            yield from (_delete_pod(pod.name, pod.uid, grace_seconds=0) for pod in lost_executors)
        case AwaitPods(lost=lost_pods):
            yield from (_delete_pod(pod.name, pod.uid, grace_seconds=0) for pod in lost_pods)
    successor = findings.driver.successor
    if successor.start and findings.target is not None:
        yield from _new_driver(
            findings,
            findings.target,
            successor.incarnation,
            standby=True,
            early_executors=successor.early_executors,
        )
    yield from (_delete_pod(pod.name, pod.uid) for pod in successor.surplus)
    yield from _expired_pods(findings)
    yield from _old_generations(findings)
    yield from surplus_revisions(findings)


def _new_driver(
    findings: Findings,
    target: AcceptedGeneration,
    incarnation: int,
    *,
    standby: bool = False,
    early_executors: bool = False,
) -> Iterator[Write]:
    """The pod of a driver, and the Secret of its run."""
    app, facts = target.accepted.app, findings.facts
    versions = configuration_annotation(app, facts.cluster.configuration)
    pod = driver_pod(
        facts.app.manifest,
        template=target.shape.driver,
        generation=target.generation,
        incarnation=incarnation,
        annotations=versions,
        standby=standby,
        early_executors=early_executors,
    )
    yield Create(pod)
    yield CreateRunSecret(pod["metadata"]["name"])


def _driver_prerequisites(findings: Findings, target: AcceptedGeneration) -> Iterator[Write]:
    """The objects that a driver needs at its start."""
    app = findings.facts.app.manifest
    yield from (
        Apply(manifest)
        for manifest in driver_objects(
            app,
            findings.facts.uid,
            target.accepted.app,
            (target.shape.executor,),
            findings.network_rules,
        )
    )
    if claim := embedded_log.log_claim(app, target.accepted.app):
        yield Apply(claim)
    if not findings.facts.run.has_report:
        yield Create(report_config_map(app))


def _unwanted_network_policy(findings: Findings) -> Iterator[Write]:
    """Deletes the app's NetworkPolicy where the installation has no rules any more."""
    name = object_names.network_policy(findings.facts.app.name)
    observed = findings.facts.cluster.driver_objects.get((NETWORK_POLICY.name, name))
    if (
        findings.network_rules is None
        and observed is not None
        and is_owned(observed, findings.facts.app.manifest)
    ):
        yield Delete(NETWORK_POLICY, name)


def _annotations(findings: Findings, history: DriverHistory) -> Iterator[Write]:
    """The annotations of generations with their drivers' results."""
    refused = _refused_generation(findings, history)
    if refused is not None and refused.driver_refusal is not None:
        annotations = {REFUSED_ANNOTATION: refusal_text(refused.driver_refusal)}
        manifest = annotate_generation(findings.facts.app.manifest, refused.generation, **annotations)
        yield Apply(manifest, must_exist=True)
    target, pod = findings.target, findings.driver.pod
    if findings.running and pod is not None and target is not None and not target.ran:
        ran_generation = findings.facts.run.accepted_generation(generation_of(pod.manifest))
        if ran_generation is not None and not ran_generation.ran:
            yield Apply(
                annotate_generation(
                    findings.facts.app.manifest, ran_generation.generation, **{RAN_ANNOTATION: "true"}
                ),
                must_exist=True,
            )


def _refused_generation(findings: Findings, history: DriverHistory) -> AcceptedGeneration | None:
    """The generation that has never run and is refused now: its driver says so, or cannot start."""
    last, failed_start, facts = history.last, findings.driver.failed_start, findings.facts
    if failed_start is not None and findings.target is not None:
        changed_paths = findings.driver.restart[1:]
        path = changed_paths[0] if len(changed_paths) == 1 else "spec"
        generation: AcceptedGeneration | None = findings.target
        refusal = DriverRefusal(failed_start.reason, path, failed_start.message)
    elif last is not None and last.outcome is DriverOutcome.CONFIG:
        generation = facts.run.accepted_generation(last.generation)
        refusal = DriverRefusal(last.reason, last.path, last.message)
    else:
        return None
    if generation is None or generation.driver_refusal is not None or generation.ran:
        return None
    versions = named_versions(generation.accepted.app, facts.cluster.configuration)
    return replace(generation, driver_refusal=replace(refusal, configuration=versions))


def _locality(findings: Findings) -> Iterator[Write]:
    """The reported locality of processors and tasks, kept for the next placement."""
    report, desired = findings.report, findings.facts.run.desired
    if report is None or desired is None or desired.wanted.model is None or not report.binding:
        return
    model = desired.wanted.model
    if report.model_version != model.version:
        return  # the binding is of another model
    version = (findings.facts.run.locality or {}).get("metadata", {}).get("resourceVersion")
    inputs = (report.binding, report.moved, report.stores, findings.facts.pods.locations, model, version)
    manifest = findings.facts.memoized.of(
        (findings.facts.uid, "locality"),
        inputs,
        lambda: _updated_locality(findings.facts, report, model),
        findings.facts.cluster.partitions,
    )
    if manifest is not None:
        yield Apply(manifest)


def locality_events(findings: Findings, writes: Iterable[Write]) -> Iterator[StatusEvent]:
    """A warning where a locality that cannot be read is needed, or is written over."""
    name = object_names.locality(findings.facts.app.name)
    written = any(isinstance(write, Apply) and write.manifest["metadata"]["name"] == name for write in writes)
    model = findings.model.wanted.model if isinstance(findings.model, ModelUpdate) else None
    if model is None or not (written or isinstance(findings.action, StartDriver)):
        return
    if problem := known_locality(findings.facts.run.locality, model.run_id).problem:
        message = f"ConfigMap {name} cannot be read: {problem}; tasks are placed as if it were empty"
        yield StatusEvent("Warning", ConditionReason.LOCALITY_UNREADABLE, message)


def _updated_locality(facts: Facts, report: Report, model: JobModel) -> Manifest | None:
    """The locality ConfigMap with the new entries; None where nothing changed."""
    known = known_locality(facts.run.locality, model.run_id)
    locality = known.manager
    located_report = replace(report, binding=facts.pods.located(report.binding))
    known_tasks = locality.read_task_locality()
    tasks: dict[str, str | None] = {**known_tasks, **located_report.task_locality(model)}
    locality.write_task_locality({task.name: tasks.get(task.name) for task in model.tasks})
    locations = {name: location for name, location in located_report.processor_locality().items() if location}
    locality.write_processor_locality({**locality.read_processor_locality(), **locations})
    if report.run_id == model.run_id and report.stores.places:
        locality.write_store_history(report.stores)
    locality.forget_other_runs()
    return known.draft.manifest(facts.app.manifest) if known.draft.changed else None


def _expired_pods(findings: Findings) -> Iterator[Write]:
    """Deletes the pods of an ended app after `ttlSecondsAfterFinished`."""
    if expires_in(findings) == [0.0]:
        yield from (
            _delete_pod(pod.name, pod.uid)
            for pod in findings.facts.pods.drivers
            if pod.life is PodLifecycle.ENDED
        )


def expires_in(findings: Findings) -> list[float]:
    """Seconds until the pods of an ended app expire; empty where there are none."""
    last, target = findings.driver.history.last, findings.target
    ttl = target.accepted.app.spec.ttl_seconds_after_finished if target else None
    ended = any(pod.life is PodLifecycle.ENDED for pod in findings.facts.pods.drivers)
    if last is None or ttl is None or findings.driver.finished is None or not ended:
        return []
    return [max(0.0, last.at + ttl - findings.facts.now)]


def _old_generations(findings: Findings) -> Iterator[Write]:
    """Deletes accepted generations that are not needed for a fallback."""
    generations, target = findings.facts.run.generations, findings.target
    if findings.acceptance.new_generation is not None or target is None:
        return
    running = {generation_of(pod.manifest) for pod in findings.facts.pods.drivers}
    last_ending = findings.driver.history.last
    needed = running | {
        target.generation,
        last_ending.generation if last_ending else 0,
        findings.facts.app.newest.generation,
    }
    unneeded = [
        accepted.generation
        for accepted in generations
        if accepted.generation not in needed and not accepted.driver_refusal
    ]
    fallback = unneeded[-1:] if not target.ran else []
    for accepted in generations:
        if accepted.generation not in needed and accepted.generation not in fallback:
            yield Delete(CONFIG_MAP, object_names.accepted(findings.facts.app.name, accepted.generation))


def _delete_pod(name: str, uid: str, grace_seconds: int | None = None) -> Delete:
    return Delete(POD, name, uid, grace_seconds)


def owned_claims(facts: Facts, app: StreamApp) -> Iterator[Manifest]:
    """The patches of claims whose owner does not match `state.reclaimPolicy`."""
    owns_claims = app.spec.state.reclaim_policy == "Delete"
    for claim in facts.cluster.claims:
        metadata = claim["metadata"]
        is_log = metadata["name"] == embedded_log.log_claim_name(facts.app.name)
        if not is_log and not object_names.is_executor_claim(metadata["name"], facts.uid):
            continue  # somebody else's, or an earlier app's of that name
        if is_owned(claim, facts.app.manifest) is owns_claims:
            continue
        if is_log:
            if log_claim := embedded_log.log_claim(facts.app.manifest, app):
                yield log_claim
            continue
        metadata_patch: Manifest = {"name": metadata["name"], "namespace": metadata["namespace"]}
        if owns_claims:
            metadata_patch["ownerReferences"] = [owner_reference(facts.app.manifest)]
        yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata_patch}
