"""`streamapp plan --cluster`: what the operator would say to an app, without applying it."""

import asyncio
from time import time

import click

from streamapp.cli.live_lookup import ClusterAccess, LiveFacts, LookupRefusedError
from streamapp.cli.unreachable import UnreachableError
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from streamapp_operator.cli.cluster_command import DEFAULT_NAMESPACE, run_with_cluster
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.client.resource_kinds import STREAM_APP
from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.reconciler.facts.facts import Facts, NewestGeneration
from streamapp_operator.reconciler.facts.gather import gather_facts, partition_counts_for
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.installation import Allowance, Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.partition_counts.partition_lookup import LivePartitionLookup
from streamapp_operator.reconciler.planning.acceptance import refused_changes
from streamapp_operator.reconciler.planning.generation_plan import layout_basis

_ANY = Installation(image="any", host_path_roots=("/",), allowed=frozenset(Allowance), storage_class="any")
"""What an installation allows is known to its operator alone."""
_TRIES = 40


def look(app: StreamApp, where: ClusterAccess) -> LiveFacts:
    """What the cluster knows of this app, and what it would refuse."""
    namespace = where.namespace or app.metadata.namespace or DEFAULT_NAMESPACE
    placed = app.model_copy(update={"metadata": app.metadata.model_copy(update={"namespace": namespace})})
    try:
        return run_with_cluster(where.kubeconfig, where.context, lambda cluster: _looked(cluster, placed))
    except UnreachableError:
        raise
    except click.ClickException as error:
        raise LookupRefusedError(error.message) from None


async def _looked(cluster: ApiClusterClient, app: StreamApp) -> LiveFacts:
    lookups = LivePartitionLookup(cluster, time)
    world = ReconcileContext(cluster, ObjectCache(), time, lookups, _ANY)
    facts = await gather_facts(world, AppKey(app.metadata.namespace, app.metadata.name), live=True)
    facts = facts or Facts(_fresh(app), NewestGeneration(1, app), time())
    counts = await _counted(world, app, facts)
    layout, run = layout_basis(facts, app)
    lookups.close()
    return LiveFacts(counts, layout, run, tuple(refused_changes(facts, app)))


async def _counted(world: ReconcileContext, app: StreamApp, facts: Facts) -> dict[str, int | None]:
    """The counts, from the driver that runs or else from the systems, as often as it takes to answer."""
    for _ in range(_TRIES):
        found = await partition_counts_for(world, app, facts)
        if isinstance(found, KnownCounts):
            names = {stream.name for stream in app.spec.streams}
            return {name: count for name, count in found.counts.items() if name in names or count}
        if isinstance(found, SystemMisconfigured):
            raise LookupRefusedError(f"{found.path}: {found.message}")
        if isinstance(found, SystemUnavailable):
            raise UnreachableError(f'the system "{found.system}" cannot be asked: {found.message}')
        await asyncio.sleep(found.seconds)
    raise UnreachableError("the systems do not answer")


def _fresh(app: StreamApp) -> dict[str, object]:
    metadata = {"name": app.metadata.name, "namespace": app.metadata.namespace, "uid": "", "generation": 1}
    return {**as_data(app), "kind": STREAM_APP.name, "metadata": metadata}
