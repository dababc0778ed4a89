"""Gathers the state of an app's pods, and of the nodes that they run on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from streamapp.author.app_streams import is_embedded
from streamapp.placement.locations.location_providers import parse_location_provider
from streamapp.placement.locations.pod_facts import EXECUTOR_ID, pod_facts
from streamapp.protocol.silent_driver import SilentDriver
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.refusal import Refusal
from streamapp_operator.controller.client.api_errors import FORBIDDEN, RejectedError
from streamapp_operator.controller.client.concurrent_calls import side_by_side
from streamapp_operator.controller.client.labels import ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import (
    NODE,
    POD,
    STATEFUL_SET,
)
from streamapp_operator.reconciler.facts.facts import (
    AppPods,
    PublishedRun,
    uid_of_run,
)
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
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, is_owned
from streamapp_operator.reconciler.pods import driver_template, executor_template
from streamapp_operator.reconciler.pods.driver_pod import has_early_executors, is_standby
from streamapp_operator.reconciler.pods.state_volume import location_provider


async def gather_pods(
    context: ReconcileContext,
    app: Manifest,
    target: StreamApp | None,
    manifests: Sequence[Manifest],
    run: PublishedRun,
) -> AppPods:
    """The drivers and executors among these pods, and since when any are missing, silent, or lost."""
    driver_pods = [pod for pod in manifests if is_owned(pod, app)]
    every_driver = sorted(
        (read_pod(pod, driver_template.DRIVER_CONTAINER) for pod in driver_pods), key=incarnation_of
    )
    every_executor = [
        read_pod(pod, executor_template.EXECUTOR_CONTAINER)
        for pod in _executor_pods(uid_of_run(app, run.generations), manifests, driver_pods)
    ]
    every_driver, every_executor = await _with_volume_trouble(context, every_driver, every_executor)
    newest_incarnation = _newest_incarnation(app, run)
    successors = tuple(
        pod for pod in every_driver if is_standby(pod.manifest) and incarnation_of(pod) > newest_incarnation
    )
    drivers = tuple(pod for pod in every_driver if pod not in successors)
    standing_by = {pod.uid for pod in successors if pod.life is not PodLifecycle.ENDED}
    executors = tuple(pod for pod in every_executor if pod.owner_pod not in standing_by)
    with_executors = (*drivers[-1:], *(pod for pod in successors if has_early_executors(pod.manifest)))
    nodes = await _nodes(context, (*drivers, *executors))
    return AppPods(
        drivers=drivers,
        successors=successors,
        executors=executors,
        early_executors=tuple(pod for pod in every_executor if pod.owner_pod in standing_by),
        missing_executors=await missing_executors(
            context, app, run, with_executors, every_executor, _wanted_executors(target, run)
        ),
        nodes=nodes,
        silent_since=_silent_since(context, drivers, successors, run.silent_driver),
        locations=await _locations(context, target, _located_executors(executors, drivers), nodes),
    )


async def unlabelled_drivers(
    context: ReconcileContext, app: Manifest, pods: Iterable[Manifest], run: PublishedRun
) -> list[Manifest]:
    """The last driver's pod, if it is there without the label by which pods are selected."""
    metadata, incarnation = app["metadata"], _newest_incarnation(app, run)
    name = object_names.driver(metadata["name"], incarnation)
    if not incarnation or any(pod["metadata"]["name"] == name for pod in pods):
        return []
    pod = await context.cluster.read(POD, metadata["namespace"], name)
    return [pod] if pod is not None else []


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


def _located_executors(executors: Iterable[PodState], drivers: Sequence[PodState]) -> Iterable[PodState]:
    """The executors that the report of the running driver is about: others may have the same numbers."""
    driver = live_driver(drivers)
    return (pod for pod in executors if driver is None or pod.owner_pod in {"", driver.uid})


def _newest_incarnation(app: Manifest, run: PublishedRun) -> int:
    """The incarnation of the newest driver that was started, or has taken over."""
    recorded: int = ((app.get("status") or {}).get("driver") or {}).get("incarnation", 0)
    return max(recorded, run.desired.incarnation if run.desired else 0)


def _wanted_executors(app: StreamApp | None, run: PublishedRun) -> int:
    """The number of executors that a driver is to have. A driver with an embedded log has none."""
    if app is None or is_embedded(app):
        return 0
    wanted = run.desired.wanted if run.desired else None
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
        pod.uid: context.sightings.silent_drivers.get((pod.uid, pod.silent_since), context.clock)
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
        return read_node(manifest, lambda state: context.sightings.unready_nodes.get(state, context.clock))
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
