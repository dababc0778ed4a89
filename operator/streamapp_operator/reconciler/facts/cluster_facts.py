"""Gathers what the cluster has for an app: its objects, what it names, and the partitions of its systems."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamapp.author.app_streams import is_embedded
from streamapp.protocol.driver_report import Report
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.api_errors import FORBIDDEN, RejectedError
from streamapp_operator.controller.client.concurrent_calls import side_by_side
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import AppKey, Manifest
from streamapp_operator.controller.client.resource_kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    POD,
    STORAGE_CLASS,
    STREAM_APP,
    VOLUME_CLAIM,
    ResourceKind,
)
from streamapp_operator.reconciler.facts.facts import (
    ClusterFacts,
    Facts,
    NewestGeneration,
    PublishedRun,
    TakenName,
)
from streamapp_operator.reconciler.facts.pod_state import (
    PodState,
    live_driver,
)
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.named_objects import outside_allow_lists
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.configuration_versions import (
    CONFIGURATION_SECONDS,
    configuration_objects,
    version_key,
)
from streamapp_operator.reconciler.objects.object_metadata import is_left_behind, is_owned
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts, PartitionCounts

DEFAULT_CLASS_ANNOTATION = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True, slots=True)
class AppObjects:
    """An app with what carries its label."""

    app: Manifest
    pods: Sequence[Manifest]
    config_maps: Sequence[Manifest]
    claims: tuple[Manifest, ...] = ()  # only gathered where `live`
    live: bool = False  # whether they were read from the API server, not from the cache


async def read_objects(context: ReconcileContext, key: AppKey, *, live: bool) -> AppObjects | None:
    """The objects, read side by side; None where the app does not exist or is being deleted."""
    cluster, cache, labels = context.cluster, context.cache, {APP_LABEL: key.name}
    cached_app = cache.app(key)
    if live:
        reading = asyncio.ensure_future(cluster.read(STREAM_APP, key.namespace, key.name))
        selecting = asyncio.ensure_future(_pods_and_config_maps(context, key, labels))
        claiming = asyncio.ensure_future(_claims(context, cached_app, labels))
        await side_by_side((reading, selecting, claiming))
        app, claims = reading.result(), claiming.result()
        pods, config_maps = map(tuple, selecting.result())
    else:
        app, claims = cached_app, ()
        pods, config_maps = tuple(cache.pods(key)), tuple(cache.config_maps(key))
    if app is None or app["metadata"].get("deletionTimestamp"):
        return None
    return AppObjects(app, pods, config_maps, claims, live)


async def _pods_and_config_maps(
    context: ReconcileContext, key: AppKey, labels: dict[str, str]
) -> list[list[Manifest]]:
    """Both, read side by side; nothing is begun where who asks is cancelled before."""
    select = context.cluster.select
    return await side_by_side(select(kind, key.namespace, labels) for kind in (POD, CONFIG_MAP))


async def _claims(
    context: ReconcileContext, app: Manifest | None, labels: dict[str, str]
) -> tuple[Manifest, ...]:
    """The app's volume claims; whether there may be some, the cached app says."""
    if app is None or "persistentVolumeClaim" not in (app["spec"].get("state") or {}):
        return ()
    return tuple(await context.cluster.select(VOLUME_CLAIM, app["metadata"]["namespace"], labels))


async def gather_cluster_facts(
    context: ReconcileContext,
    objects: AppObjects,
    newest: NewestGeneration,
    run: PublishedRun,
    drivers: tuple[PodState, ...],
) -> ClusterFacts:
    """The facts of the cluster; what the app names is looked up again where its objects were read."""
    app = objects.app
    key = AppKey(app["metadata"]["namespace"], app["metadata"]["name"])
    driver_objects, is_known = (
        context.cache.driver_objects(key),
        run.accepted_generation(newest.generation) is not None,
    )
    others = (*objects.pods, *objects.config_maps, *driver_objects.values(), *context.cache.revisions(key))
    return ClusterFacts(
        driver_objects=driver_objects,
        claims=objects.claims,
        taken_names=_taken_names(app, others),
        configuration=await _configuration(context, newest, run, fresh=objects.live),
        storage_class="" if is_known else await _default_storage_class(context, newest.app),
        counts=await _counts(context, newest, run, drivers),
    )


def _taken_names(app: Manifest, manifests: Iterable[Manifest]) -> tuple[TakenName, ...]:
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
            for manifest in manifests
            if not is_owned(manifest, app)
            and (_is_named_for(app, manifest) or manifest["kind"] == CONTROLLER_REVISION.name)
        )
    )


def _is_named_for(app: Manifest, manifest: Manifest) -> bool:
    metadata = manifest["metadata"]
    return object_names.is_of_app(manifest["kind"], metadata["name"], app["metadata"]["name"])


async def _configuration(
    context: ReconcileContext, newest: NewestGeneration, run: PublishedRun, *, fresh: bool
) -> dict[str, str]:
    """The versions of what the generations name that may run."""
    in_force = run.in_force
    apps = [in_force.accepted.app] if in_force is not None else []
    if newest.app is not None and _may_be_looked_up(context, newest, run):
        apps.append(newest.app)
    if not apps:
        return {}
    return await _configuration_versions(context, apps[0].metadata.namespace, apps, fresh=fresh)


def _may_be_looked_up(context: ReconcileContext, newest: NewestGeneration, run: PublishedRun) -> bool:
    """True if systems may be asked with the Secrets that the newest generation names."""
    if newest.app is None or run.accepted_generation(newest.generation) is not None:
        return True
    return next(outside_allow_lists(newest.app, context.installation), None) is None


async def _counts(
    context: ReconcileContext,
    newest: NewestGeneration,
    run: PublishedRun,
    drivers: tuple[PodState, ...],
) -> dict[int, PartitionCounts]:
    """The counts for the generations that may have to be planned."""
    in_force = run.in_force
    running_app = in_force.accepted.app if in_force else None
    reported = _reported_counts(run.report, drivers)
    apps = {newest.generation: newest.app if _may_be_looked_up(context, newest, run) else None}
    if in_force is not None:
        apps[in_force.generation] = running_app
    return {
        generation: await _counts_of(context, app, running_app, reported)
        for generation, app in apps.items()
        if app is not None and not is_embedded(app)
    }


async def partition_counts_for(context: ReconcileContext, app: StreamApp, facts: Facts) -> PartitionCounts:
    """The counts for an app that may not have been applied yet."""
    running_app = facts.run.in_force.accepted.app if facts.run.in_force else None
    return await _counts_of(context, app, running_app, _reported_counts(facts.run.report, facts.pods.drivers))


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
    if not isinstance(looked_up, KnownCounts):
        return looked_up
    return KnownCounts({**looked_up.counts, **reported}, looked_up.only_driver - reported.keys())


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


async def _configuration_versions(
    context: ReconcileContext, namespace: str, apps: Iterable[StreamApp], *, fresh: bool
) -> dict[str, str]:
    """The versions by kind and name, of those that are there and may be read."""
    objects = sorted(
        {named for app in apps for named in configuration_objects(app, for_pulling=True)},
        key=lambda named: version_key(*named),
    )
    versions = await side_by_side([_version(context, kind, namespace, name, fresh) for kind, name in objects])
    versions_of_objects = zip(objects, versions, strict=True)
    return {version_key(*named): version for named, version in versions_of_objects if version}


async def _version(
    context: ReconcileContext, kind: ResourceKind, namespace: str, name: str, fresh: bool
) -> str:
    key = (kind.name, namespace, name)
    known = context.sightings.configuration.peek(key)
    if known is not None and not fresh and context.clock() - known[0] < CONFIGURATION_SECONDS:
        return known[1]
    try:
        manifest = await context.cluster.read_metadata(kind, namespace, name)
    except RejectedError as error:
        if error.code != FORBIDDEN:
            raise
        manifest = None
    metadata = manifest["metadata"] if manifest is not None else None
    version = f"{metadata['uid']} {metadata['resourceVersion']}" if metadata else ""
    context.sightings.configuration.put(key, (context.clock(), version))
    return version


def needs_default_class(app: StreamApp) -> bool:
    """True if the claims of an app's executors name no storage class."""
    claim = app.spec.state.persistent_volume_claim
    return claim is not None and claim.storage_class_name is None and not is_embedded(app)


async def _default_storage_class(context: ReconcileContext, app: StreamApp | None) -> str:
    """The cluster's default, for an app that needs it; empty where none is visible.

    Kubernetes lets a cluster have several, and takes the newest.
    """
    if app is None or not needs_default_class(app) or context.installation.storage_class:
        return ""
    try:
        classes = await context.cluster.select(STORAGE_CLASS, "", {})
    except RejectedError as error:
        if error.code != FORBIDDEN:
            raise
        return ""
    defaults = [
        (storage_class["metadata"].get("creationTimestamp") or "", str(storage_class["metadata"]["name"]))
        for storage_class in classes
        if (storage_class["metadata"].get("annotations") or {}).get(DEFAULT_CLASS_ANNOTATION) == "true"
    ]
    return max(defaults)[1] if defaults else ""
