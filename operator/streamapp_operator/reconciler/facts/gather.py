"""Gathers the facts of a reconcile, from the cache or from the API server."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from streamapp.author.app_streams import is_embedded
from streamapp.placement.locations.location_providers import parse_location_provider
from streamapp.placement.locations.pod_facts import EXECUTOR_ID, pod_facts
from streamapp.protocol.driver_report import Report
from streamapp.protocol.silent_driver import SilentDriver
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from streamapp.tasks.refusal import Refusal
from streamapp_operator.controller.client.api_errors import FORBIDDEN, RejectedError
from streamapp_operator.controller.client.concurrent_calls import side_by_side
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.controller.client.manifest import AppKey, Manifest
from streamapp_operator.controller.client.resource_kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    NODE,
    POD,
    STATEFUL_SET,
    STREAM_APP,
    VOLUME_CLAIM,
)
from streamapp_operator.reconciler.config_maps.accepted_generation import (
    adopted_generations,
    generation_in_force,
    without_outdated_refusal,
)
from streamapp_operator.reconciler.facts.config_map_facts import DecodedConfigMaps, decode_config_maps
from streamapp_operator.reconciler.facts.configuration_lookup import configuration_versions
from streamapp_operator.reconciler.facts.default_storage_class import default_storage_class
from streamapp_operator.reconciler.facts.facts import (
    ApplicationIdHolder,
    DryRun,
    Facts,
    NewestGeneration,
    TakenName,
    uid_of_run,
)
from streamapp_operator.reconciler.facts.generation_judgement import GenerationJudgement
from streamapp_operator.reconciler.facts.missing_executors import missing_executors
from streamapp_operator.reconciler.facts.node_state import NodeState, read_node
from streamapp_operator.reconciler.facts.pod_state import (
    MOUNT_SECONDS,
    PodLifecycle,
    PodState,
    incarnation_of,
    live_driver,
    read_pod,
    volume_trouble,
)
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.facts.revision_facts import recorded_history
from streamapp_operator.reconciler.named_objects import outside_allow_lists
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, is_left_behind, is_owned
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts, PartitionCounts
from streamapp_operator.reconciler.pods import driver_template, executor_template
from streamapp_operator.reconciler.pods.driver_pod import has_early_executors, is_standby
from streamapp_operator.reconciler.pods.state_volume import location_provider

DRY_RUN_SECONDS = 25.0
"""How long the API server's word on a generation's pods is good; less than the time until a refused one is
looked at again."""


async def gather_facts(context: ReconcileContext, key: AppKey, *, live: bool) -> Facts | None:
    """The facts about an app; None where the app does not exist or is being deleted."""
    objects = await _live_objects(context, key) if live else _cached_objects(context, key)
    app, pods, claims = objects.app, objects.pods, objects.claims
    if app is None or app["metadata"].get("deletionTimestamp"):
        return None
    decoded = await decode_config_maps(context, app, objects.config_maps)
    app = _counted_on(app, decoded)
    if live:
        pods = (*pods, *await _unlabelled_drivers(context, app, pods, decoded))
    driver_pods = [pod for pod in pods if is_owned(pod, app)]
    every_driver = sorted(
        (read_pod(pod, driver_template.DRIVER_CONTAINER) for pod in driver_pods), key=incarnation_of
    )
    run_uid = uid_of_run(app, decoded.generations)
    every_executor = [
        read_pod(pod, executor_template.EXECUTOR_CONTAINER)
        for pod in _executor_pods(run_uid, pods, driver_pods)
    ]
    every_driver, every_executor = await _with_volume_trouble(context, every_driver, every_executor)
    newest_incarnation = _newest_incarnation(app, decoded)
    successors = tuple(
        pod for pod in every_driver if is_standby(pod.manifest) and incarnation_of(pod) > newest_incarnation
    )
    drivers = tuple(pod for pod in every_driver if pod not in successors)
    early_executors = _early_executors(every_executor, successors)
    executors = tuple(pod for pod in every_executor if pod not in early_executors)
    judgement = await _judgement(context, app)
    newest = judgement.newest
    nodes = await _nodes(context, (*drivers, *executors))
    accepted_before = _is_accepted(newest, decoded)
    configuration = await _configuration(context, newest, decoded, fresh=live)
    return Facts(
        manifest=app,
        newest=newest,
        now=context.clock(),
        drivers=drivers,
        successors=successors,
        executors=executors,
        early_executors=early_executors,
        missing_executors=await missing_executors(
            context,
            app,
            decoded.generations,
            (*drivers[-1:], *(pod for pod in successors if has_early_executors(pod.manifest))),
            every_executor,
            decoded.report,
            _wanted_executors(newest, decoded),
        ),
        nodes=nodes,
        silent_since=_silent_since(context, drivers, successors, decoded.silent_driver),
        generations=tuple(
            without_outdated_refusal(generation, configuration) for generation in decoded.generations
        ),
        unreadable_config_maps=decoded.unreadable,
        desired=decoded.desired,
        report=decoded.report,
        claims=claims,
        taken_names=_taken_names(
            app,
            (*pods, *objects.config_maps),
            context.cache.driver_objects(key).values(),
            context.cache.revisions(key),
        ),
        storage_class="" if accepted_before else await default_storage_class(context, newest.app),
        has_report=decoded.has_report,
        reported_at=decoded.reported_at,
        history=await recorded_history(
            context, key, app, generation_in_force(decoded.generations), decoded.report
        ),
        locality=decoded.locality,
        driver_objects=context.cache.driver_objects(key),
        configuration=configuration,
        locations=await _locations(
            context, _target(newest, decoded), _located_executors(executors, drivers), nodes
        ),
        counts=await _counts(context, newest, decoded, drivers),
        application_id_holder=None if accepted_before else _application_id_holder(context, app, newest.app),
        namespace_of_id="" if accepted_before else _namespace_of_id(context, app, newest.app),
        dry_run=_recent_dry_run(context, app),
        memoized=context.memoized,
        start_problems=await _start_problems(context, app, judgement, decoded),
        live=live,
    )


@dataclass(frozen=True, slots=True)
class _AppObjects:
    """An app with what carries its label."""

    app: Manifest | None
    pods: Sequence[Manifest]
    config_maps: Sequence[Manifest]
    claims: tuple[Manifest, ...] = ()


def _cached_objects(context: ReconcileContext, key: AppKey) -> _AppObjects:
    return _AppObjects(context.cache.app(key), context.cache.pods(key), context.cache.config_maps(key))


async def _live_objects(context: ReconcileContext, key: AppKey) -> _AppObjects:
    """All of them read side by side; whether there may be claims, the cache says."""
    cluster, labels = context.cluster, {APP_LABEL: key.name}
    app = asyncio.ensure_future(cluster.read(STREAM_APP, key.namespace, key.name))
    pods = asyncio.ensure_future(cluster.select(POD, key.namespace, labels))
    config_maps = asyncio.ensure_future(cluster.select(CONFIG_MAP, key.namespace, labels))
    claims = asyncio.ensure_future(_claims(context, context.cache.app(key), labels))
    await side_by_side((app, pods, config_maps, claims))
    return _AppObjects(app.result(), pods.result(), config_maps.result(), claims.result())


def dry_run_key(app: Manifest) -> tuple[str, int]:
    """The key of a dry run: one generation of one app."""
    return app["metadata"]["uid"], app["metadata"]["generation"]


def _recent_dry_run(context: ReconcileContext, app: Manifest) -> DryRun | None:
    """The last dry run, unless it is old: a quota or a policy of the cluster may have changed since."""
    dry_run = context.dry_runs.peek(dry_run_key(app))
    return dry_run if dry_run is not None and context.clock() - dry_run.at < DRY_RUN_SECONDS else None


async def _claims(
    context: ReconcileContext, app: Manifest | None, labels: dict[str, str]
) -> tuple[Manifest, ...]:
    if app is None or "persistentVolumeClaim" not in (app["spec"].get("state") or {}):
        return ()
    return tuple(await context.cluster.select(VOLUME_CLAIM, app["metadata"]["namespace"], labels))


def _counted_on(app: Manifest, decoded: DecodedConfigMaps) -> Manifest:
    """The app, with its generations counted on from those of the deleted app that it has adopted."""
    metadata, adopted = app["metadata"], adopted_generations(decoded.generations)
    if not adopted:
        return app
    return {**app, "metadata": {**metadata, "generation": metadata["generation"] + adopted}}


def _taken_names(app: Manifest, *others: Iterable[Manifest]) -> tuple[TakenName, ...]:
    """The objects with the app's label that it does not own, but for executors and strangers' pods."""
    return tuple(
        sorted(
            TakenName(
                manifest["kind"],
                manifest["metadata"]["name"],
                manifest,
                is_needed=_is_named_for(app, manifest),
                is_left_behind=is_left_behind(manifest, app),
            )
            for manifests in others
            for manifest in manifests
            if not is_owned(manifest, app)
            and (_is_named_for(app, manifest) or manifest["kind"] == CONTROLLER_REVISION.name)
        )
    )


def _is_named_for(app: Manifest, manifest: Manifest) -> bool:
    metadata = manifest["metadata"]
    return object_names.is_of_app(manifest["kind"], metadata["name"], app["metadata"]["name"])


def _executor_pods(run_uid: str, pods: Sequence[Manifest], drivers: Sequence[Manifest]) -> Iterable[Manifest]:
    """The executors: pods with their label, and all that a driver owns, whatever labels these have.

    Those of a driver or of a StatefulSet of another app are none, be it a deleted one of the same name.
    """
    driver_uids = {driver["metadata"]["uid"] for driver in drivers}
    other_uids = {pod["metadata"]["uid"] for pod in pods} - driver_uids
    own_set = object_names.executor_set(run_uid)
    for pod in pods:
        metadata = pod["metadata"]
        owners = metadata.get("ownerReferences") or ()
        owner_uids = {owner["uid"] for owner in owners}
        is_of_other = bool(owner_uids & other_uids) or any(
            owner["kind"] == STATEFUL_SET.name and owner["name"] != own_set for owner in owners
        )
        if metadata["uid"] in driver_uids or is_of_other:
            continue
        if (metadata.get("labels") or {}).get(ROLE_LABEL) == ObjectRole.EXECUTOR or owner_uids & driver_uids:
            yield pod


async def _with_volume_trouble(
    context: ReconcileContext, drivers: list[PodState], executors: list[PodState]
) -> tuple[list[PodState], list[PodState]]:
    """The pods, with what Kubernetes' events say of the volumes of the one that waits for its container."""
    waiting = [
        pod
        for pod in (*drivers, *executors)
        if pod.awaits_container and context.clock() - (pod.scheduled_at or pod.made_at) >= MOUNT_SECONDS
    ]
    if not waiting:
        return drivers, executors
    pod = waiting[0]
    trouble = volume_trouble(await context.cluster.warnings_about(pod.manifest))
    troubled = replace(pod, trouble=trouble)
    return (
        [troubled if other is pod else other for other in drivers],
        [troubled if other is pod else other for other in executors],
    )


def _early_executors(executors: Iterable[PodState], successors: Iterable[PodState]) -> tuple[PodState, ...]:
    """The executors of standby drivers, which have no tasks before such a driver takes over."""
    standing_by = {pod.uid for pod in successors if pod.life is not PodLifecycle.ENDED}
    return tuple(pod for pod in executors if pod.owner_pod in standing_by)


def _located_executors(executors: Iterable[PodState], drivers: Sequence[PodState]) -> Iterable[PodState]:
    """The executors that the report of the running driver is about: others may have the same numbers."""
    driver = live_driver(drivers)
    return (pod for pod in executors if driver is None or pod.owner_pod in {"", driver.uid})


async def _unlabelled_drivers(
    context: ReconcileContext, app: Manifest, pods: Iterable[Manifest], decoded: DecodedConfigMaps
) -> list[Manifest]:
    """The last driver's pod, if it is there without the label by which pods are selected."""
    metadata, incarnation = app["metadata"], _newest_incarnation(app, decoded)
    name = object_names.driver(metadata["name"], incarnation)
    if not incarnation or any(pod["metadata"]["name"] == name for pod in pods):
        return []
    pod = await context.cluster.read(POD, metadata["namespace"], name)
    return [pod] if pod is not None else []


def _newest_incarnation(app: Manifest, decoded: DecodedConfigMaps) -> int:
    """The incarnation of the newest driver that was started, or has taken over."""
    recorded: int = ((app.get("status") or {}).get("driver") or {}).get("incarnation", 0)
    return max(recorded, decoded.desired.incarnation if decoded.desired else 0)


async def _judgement(context: ReconcileContext, app: Manifest) -> GenerationJudgement:
    """The judgement of a generation, which never changes."""
    key = (app["metadata"]["uid"], app["metadata"]["generation"])
    judgement = context.judgement_cache.peek(key)
    if judgement is None:
        judgement = await context.judges.judge(app)
        context.judgement_cache.put(key, judgement, len(str(app["spec"])))
    return judgement


async def _start_problems(
    context: ReconcileContext, app: Manifest, judgement: GenerationJudgement, decoded: DecodedConfigMaps
) -> dict[int, tuple[Problem, ...]]:
    """The problems of the generations that may have to be planned."""
    problems = {judgement.newest.generation: judgement.start_problems}
    in_force = generation_in_force(decoded.generations)
    if in_force is not None and in_force.generation not in problems:
        metadata = {**app["metadata"], "generation": in_force.generation}
        earlier_app = {**app, **as_data(in_force.accepted.app), "metadata": metadata}
        problems[in_force.generation] = (await _judgement(context, earlier_app)).start_problems
    return problems


def _target(newest: NewestGeneration, decoded: DecodedConfigMaps) -> StreamApp | None:
    in_force = generation_in_force(decoded.generations)
    return in_force.accepted.app if in_force else newest.app


def _wanted_executors(newest: NewestGeneration, decoded: DecodedConfigMaps) -> int:
    """The number of executors that a driver is to have. A driver with an embedded log has none."""
    app = _target(newest, decoded)
    if app is None or is_embedded(app):
        return 0
    wanted = decoded.desired.wanted if decoded.desired else None
    return len(wanted.model.processors) if wanted and wanted.model else app.spec.processors


def _silent_since(
    context: ReconcileContext,
    drivers: Iterable[PodState],
    successors: Iterable[PodState],
    silent_driver: SilentDriver | None,
) -> dict[str, float]:
    """The drivers that their kubelets or their ready standby call silent. One that has ended has no word."""
    witnesses = {pod.name for pod in successors if pod.ready and pod.life is PodLifecycle.LIVING}
    unanswering = silent_driver.driver if silent_driver and silent_driver.standby in witnesses else ""
    return {
        pod.uid: context.silent_drivers.get((pod.uid, pod.silent_since), context.clock)
        for pod in drivers
        if pod.life is PodLifecycle.LIVING and (pod.silent_since is not None or pod.name == unanswering)
    }


async def _nodes(context: ReconcileContext, pods: Iterable[PodState]) -> dict[str, NodeState]:
    """The nodes of pods that may be lost; other nodes are not read."""
    node_names = {
        pod.node
        for pod in pods
        if pod.node
        and (pod.life is PodLifecycle.LEAVING or (pod.life is PodLifecycle.LIVING and pod.unready_since))
    }
    names = sorted(node_names)
    states = await side_by_side([_node(context, name) for name in names])
    return dict(zip(names, states, strict=True))


async def _node(context: ReconcileContext, name: str) -> NodeState:
    """A node's state; an operator without the right to read nodes assumes a healthy one."""
    try:
        manifest = await context.cluster.read(NODE, "", name)
        return read_node(manifest, lambda state: context.unready_nodes.get(state, context.clock))
    except RejectedError as error:
        if error.code != FORBIDDEN:
            raise
        return NodeState()


async def _locations(
    context: ReconcileContext,
    app: StreamApp | None,
    executors: Iterable[PodState],
    nodes: Mapping[str, NodeState],
) -> dict[str, str]:
    """The executors' locations, by the app's location provider."""
    provider_name = location_provider(app) if app else ""
    provider = parse_location_provider(provider_name) if app else None
    if provider is None or isinstance(provider, Refusal):
        return {}
    known_nodes = dict(nodes)
    locations = {}
    for executor in executors:
        if executor.life is PodLifecycle.ENDED or EXECUTOR_ID not in executor.labels:
            continue
        if "label:" in provider_name and executor.node and executor.node not in known_nodes:
            known_nodes[executor.node] = await _node(context, executor.node)
        node = known_nodes.get(executor.node)
        location = provider(pod_facts(executor.manifest, node.labels if node else None))
        if location:
            locations[executor.labels[EXECUTOR_ID]] = str(location)
    return locations


async def _counts(
    context: ReconcileContext,
    newest: NewestGeneration,
    decoded: DecodedConfigMaps,
    drivers: tuple[PodState, ...],
) -> dict[int, PartitionCounts]:
    """The counts for the generations that may have to be planned."""
    in_force = generation_in_force(decoded.generations)
    running_app = in_force.accepted.app if in_force else None
    reported = _reported_counts(decoded.report, drivers)
    apps = {newest.generation: newest.app if _may_be_looked_up(context, newest, decoded) else None}
    if in_force is not None:
        apps[in_force.generation] = running_app
    return {
        generation: await _counts_of(context, app, running_app, reported)
        for generation, app in apps.items()
        if app is not None and not is_embedded(app)
    }


async def _configuration(
    context: ReconcileContext, newest: NewestGeneration, decoded: DecodedConfigMaps, *, fresh: bool
) -> dict[str, str]:
    """The versions of what the generations name that may run."""
    in_force = generation_in_force(decoded.generations)
    apps = [in_force.accepted.app] if in_force is not None else []
    if newest.app is not None and _may_be_looked_up(context, newest, decoded):
        apps.append(newest.app)
    if not apps:
        return {}
    return await configuration_versions(context, apps[0].metadata.namespace, apps, fresh=fresh)


def _may_be_looked_up(
    context: ReconcileContext, newest: NewestGeneration, decoded: DecodedConfigMaps
) -> bool:
    """True if systems may be asked with the Secrets that the newest generation names."""
    if newest.app is None or _is_accepted(newest, decoded):
        return True
    return next(outside_allow_lists(newest.app, context.installation), None) is None


async def partition_counts_for(context: ReconcileContext, app: StreamApp, facts: Facts) -> PartitionCounts:
    """The counts for an app that may not have been applied yet."""
    running_app = facts.in_force.accepted.app if facts.in_force else None
    return await _counts_of(context, app, running_app, _reported_counts(facts.report, facts.drivers))


async def _counts_of(
    context: ReconcileContext,
    app: StreamApp,
    running_app: StreamApp | None,
    reported: Mapping[str, int | None],
) -> PartitionCounts:
    """The counts that the driver reports take precedence; the systems are asked for the others."""
    if reported and running_app is not None and _reads_no_more(app, running_app):
        return KnownCounts({stream.name: None for stream in app.spec.streams} | dict(reported))
    looked_up = await context.lookup.counts(app)
    return KnownCounts({**looked_up.counts, **reported}) if isinstance(looked_up, KnownCounts) else looked_up


def _reported_counts(report: Report | None, drivers: tuple[PodState, ...]) -> dict[str, int | None]:
    """The partition counts in the running driver's report."""
    driver = live_driver(drivers)
    return dict(report.counts) if report and driver and report.driver == driver.name else {}


def _reads_no_more(app: StreamApp, running_app: StreamApp) -> bool:
    """True if the running app's driver knows all streams of this app."""
    known_streams = {(item.name, item.system, item.topic) for item in running_app.spec.streams}
    known_systems = {item.name: item for item in running_app.spec.systems}
    return all((item.name, item.system, item.topic) in known_streams for item in app.spec.streams) and all(
        known_systems.get(item.name) == item for item in app.spec.systems
    )


def _is_accepted(newest: NewestGeneration, decoded: DecodedConfigMaps) -> bool:
    """True if the newest generation was accepted before; then its application id is not checked again."""
    return any(accepted.generation == newest.generation for accepted in decoded.generations)


def _namespace_of_id(context: ReconcileContext, app: Manifest, parsed: StreamApp | None) -> str:
    """The other namespace whose apps have ids that begin like this one's by default."""
    namespace = parsed.application_id.partition(".")[0] if parsed is not None else ""
    is_own = namespace == app["metadata"]["namespace"]
    has_apps = not is_own and any(key.namespace == namespace for key in context.cache.apps())
    return namespace if has_apps else ""


def _application_id_holder(
    context: ReconcileContext, app: Manifest, parsed: StreamApp | None
) -> ApplicationIdHolder | None:
    """Another app with the same application id that runs already or is older."""
    if parsed is None:
        return None
    own_age = (app["metadata"]["creationTimestamp"], app["metadata"]["uid"])
    for other in context.cache.apps_of(parsed.application_id):
        metadata = other["metadata"]
        if metadata["uid"] == app["metadata"]["uid"]:
            continue
        was_accepted = (other.get("status") or {}).get("acceptedGeneration") is not None
        if was_accepted or (metadata["creationTimestamp"], metadata["uid"]) < own_age:
            return ApplicationIdHolder(metadata["name"], metadata["namespace"], was_accepted)
    return None
