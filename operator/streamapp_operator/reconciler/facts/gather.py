"""Gathers all that a reconcile needs to know, from what watches have seen or from the API server itself."""

from collections.abc import Iterable, Mapping

from streamapp.author.app_streams import is_embedded
from streamapp.placement.locations.location_providers import parse_location_provider
from streamapp.placement.locations.pod_facts import EXECUTOR_ID, pod_facts
from streamapp.protocol.driver_report import Report
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.refusal import Refusal
from streamapp_operator.controller.client.api_errors import RejectedError
from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import (
    CONFIG_MAP,
    NODE,
    POD,
    STREAM_APP,
    VOLUME_CLAIM,
)
from streamapp_operator.reconciler.facts.config_map_facts import DecodedConfigMaps, decode_config_maps
from streamapp_operator.reconciler.facts.default_storage_class import FORBIDDEN, default_storage_class
from streamapp_operator.reconciler.facts.facts import ApplicationIdHolder, Facts, NewestGeneration
from streamapp_operator.reconciler.facts.node_state import NodeState, read_node
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState, incarnation_of, read_pod
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, is_owned
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts, PartitionCounts
from streamapp_operator.reconciler.pods import driver_template, executor_template
from streamapp_operator.reconciler.pods.state_volume import location_provider


async def gather_facts(world: ReconcileContext, key: AppKey, *, live: bool) -> Facts | None:
    """The facts about an app; nothing where there is no app, or where it is being deleted."""
    app = await world.cluster.read(STREAM_APP, key.namespace, key.name) if live else world.cache.app(key)
    if app is None or app["metadata"].get("deletionTimestamp"):
        return None
    labels = {APP_LABEL: key.name}
    if live:
        pods = await world.cluster.select(POD, key.namespace, labels)
        maps: Iterable[Manifest] = await world.cluster.select(CONFIG_MAP, key.namespace, labels)
        claims = await _claims(world, app, labels)
    else:
        claims = ()
        pods, maps = list(world.cache.pods(key)), world.cache.config_maps(key)
    drivers = tuple(
        sorted(
            (read_pod(one, driver_template.DRIVER_CONTAINER) for one in _of(pods, ObjectRole.DRIVER, app)),
            key=incarnation_of,
        )
    )
    executors = tuple(
        read_pod(one, executor_template.EXECUTOR_CONTAINER) for one in _of(pods, ObjectRole.EXECUTOR)
    )
    decoded = await decode_config_maps(world, app, maps)
    newest = world.apps.get((app["metadata"]["uid"], app["metadata"]["generation"]), lambda: _newest(app))
    nodes = await _nodes(world, (*drivers, *executors))
    return Facts(
        manifest=app,
        newest=newest,
        now=world.clock(),
        drivers=drivers,
        executors=executors,
        nodes=nodes,
        snapshots=decoded.snapshots,
        unreadable=decoded.unreadable,
        desired=decoded.desired,
        report=decoded.report,
        claims=claims,
        storage_class=await default_storage_class(world, newest.app) if not _kept(newest, decoded) else "",
        has_report=decoded.has_report,
        locality=decoded.locality,
        locations=await _locations(world, _target(newest, decoded), executors, nodes),
        counts=await _counts(world, newest, decoded, drivers),
        rival=None if _kept(newest, decoded) else _rival(world, app, newest.app),
        worked=world.worked,
        live=live,
    )


async def _claims(world: ReconcileContext, app: Manifest, labels: dict[str, str]) -> tuple[Manifest, ...]:
    if "persistentVolumeClaim" not in (app["spec"].get("state") or {}):
        return ()
    return tuple(await world.cluster.select(VOLUME_CLAIM, app["metadata"]["namespace"], labels))


def _of(pods: Iterable[Manifest], role: ObjectRole, app: Manifest | None = None) -> Iterable[Manifest]:
    """The pods of a role; drivers are this very app's, executors are their driver's."""
    for one in pods:
        if one["metadata"]["labels"].get(ROLE_LABEL) == role and (app is None or is_owned(one, app)):
            yield one


def _newest(app: Manifest) -> NewestGeneration:
    parsed = parse_data(app)
    generation = app["metadata"]["generation"]
    return NewestGeneration(generation, parsed.apps[0] if parsed.apps else None, parsed.problems)


def _target(newest: NewestGeneration, decoded: DecodedConfigMaps) -> StreamApp | None:
    kept = next((one for one in reversed(decoded.snapshots) if one.refused is None), None)
    return kept.accepted.app if kept else newest.app


async def _nodes(world: ReconcileContext, pods: Iterable[PodState]) -> dict[str, NodeState]:
    """The nodes of pods that may be lost; of all others nothing has to be known."""
    doubtful = {
        one.node
        for one in pods
        if one.node
        and (one.life is PodLifecycle.LEAVING or (one.life is PodLifecycle.LIVING and one.unready_since))
    }
    return {name: await _node(world, name) for name in sorted(doubtful)}


async def _node(world: ReconcileContext, name: str) -> NodeState:
    """A node; who looks after single namespaces may not see any, and then knows of no trouble."""
    try:
        return read_node(await world.cluster.read(NODE, "", name))
    except RejectedError as error:
        if error.code != FORBIDDEN:
            raise
        return NodeState()


async def _locations(
    world: ReconcileContext,
    app: StreamApp | None,
    executors: Iterable[PodState],
    nodes: Mapping[str, NodeState],
) -> dict[str, str]:
    """Where executors are, as the app wants locations told."""
    wanted = location_provider(app) if app else ""
    of = parse_location_provider(wanted) if app else None
    if of is None or isinstance(of, Refusal):
        return {}
    known = dict(nodes)
    found = {}
    for one in executors:
        if one.life is PodLifecycle.ENDED or EXECUTOR_ID not in one.labels:
            continue
        if "label:" in wanted and one.node and one.node not in known:
            known[one.node] = await _node(world, one.node)
        on = known.get(one.node)
        place = of(pod_facts(one.manifest, on.labels if on else None))
        if place:
            found[one.labels[EXECUTOR_ID]] = str(place)
    return found


async def _counts(
    world: ReconcileContext,
    newest: NewestGeneration,
    decoded: DecodedConfigMaps,
    drivers: tuple[PodState, ...],
) -> dict[int, PartitionCounts]:
    """The counts for the generations that may have to be planned."""
    in_force = next((one for one in reversed(decoded.snapshots) if one.refused is None), None)
    runs = in_force.accepted.app if in_force else None
    told = _told(decoded.report, drivers)
    apps = {newest.generation: newest.app}
    if in_force is not None:
        apps[in_force.generation] = runs
    return {
        generation: await _counts_of(world, app, runs, told)
        for generation, app in apps.items()
        if app is not None and not is_embedded(app)
    }


async def partition_counts_for(world: ReconcileContext, app: StreamApp, facts: Facts) -> PartitionCounts:
    """The counts for an app that may not have been applied yet."""
    runs = facts.in_force.accepted.app if facts.in_force else None
    return await _counts_of(world, app, runs, _told(facts.report, facts.drivers))


async def _counts_of(
    world: ReconcileContext, app: StreamApp, runs: StreamApp | None, told: Mapping[str, int | None]
) -> PartitionCounts:
    """A driver's word first, for it looks by itself; else the systems are asked."""
    if told and runs is not None and _reads_no_more(app, runs):
        return KnownCounts({stream.name: None for stream in app.spec.streams} | dict(told))
    asked = await world.lookup.counts(app)
    return KnownCounts({**asked.counts, **told}) if isinstance(asked, KnownCounts) else asked


def _told(report: Report | None, drivers: tuple[PodState, ...]) -> dict[str, int | None]:
    """What the driver that lives says."""
    here = next((one for one in reversed(drivers) if one.life is not PodLifecycle.ENDED), None)
    return dict(report.counts) if report and here and report.driver == here.name else {}


def _reads_no_more(app: StreamApp, runs: StreamApp) -> bool:
    """Whether a driver of the one app knows all streams of the other."""
    known = {(one.name, one.system, one.topic) for one in runs.spec.streams}
    same = {one.name: one for one in runs.spec.systems}
    return all((one.name, one.system, one.topic) in known for one in app.spec.streams) and all(
        same.get(one.name) == one for one in app.spec.systems
    )


def _kept(newest: NewestGeneration, decoded: DecodedConfigMaps) -> bool:
    """Whether the newest generation was accepted before: then nobody asks for rivals again."""
    return any(one.generation == newest.generation for one in decoded.snapshots)


def _rival(world: ReconcileContext, app: Manifest, read: StreamApp | None) -> ApplicationIdHolder | None:
    """An app with the same application id that runs under it already, or else has had it for longer."""
    if read is None:
        return None
    mine = (app["metadata"]["creationTimestamp"], app["metadata"]["uid"])
    for other in world.cache.apps_of(read.application_id):
        metadata = other["metadata"]
        if metadata["uid"] == app["metadata"]["uid"]:
            continue
        holds = (other.get("status") or {}).get("acceptedGeneration") is not None
        if holds or (metadata["creationTimestamp"], metadata["uid"]) < mine:
            return ApplicationIdHolder(metadata["name"], metadata["namespace"])
    return None
