"""`streamapp plan --cluster`: what the operator would say to an app, without applying it."""

import asyncio
from contextlib import AsyncExitStack
from time import monotonic

import click

from streamapp.cli.facts.live_lookup import LiveFacts, LookupRefusedError
from streamapp.cli.option_groups import ClusterAccess
from streamapp.cli.output_option import UnreachableError
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from streamapp_operator.cli.cluster_access.cluster_command import DEFAULT_NAMESPACE, run_with_cluster
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.client.resource_kinds import STREAM_APP
from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.reconciler.facts.cluster_facts import partition_counts_for
from streamapp_operator.reconciler.facts.facts import AppFacts, Facts, NewestGeneration
from streamapp_operator.reconciler.facts.gather import gather_facts
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.installation import ANY, Allowance, AllowLists, Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    LookupEnded,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.partition_counts.partition_lookup import LivePartitionLookup
from streamapp_operator.reconciler.planning.acceptance import refused_changes
from streamapp_operator.reconciler.planning.generation_plan import layout_basis

_ANY = Installation(
    image="any",
    host_path_roots=("/",),
    allowed=frozenset(Allowance),
    allow_lists=AllowLists(hosts=ANY),
    storage_class="any",
)
"""Only the operator knows the limits of its installation, so this one allows everything."""
_TRIES = 40


def look(app: StreamApp, access: ClusterAccess) -> LiveFacts:
    """The cluster's facts about an app, and the changes that the operator would refuse."""
    namespace = access.namespace or app.metadata.namespace or DEFAULT_NAMESPACE
    namespaced_app = app.model_copy(
        update={"metadata": app.metadata.model_copy(update={"namespace": namespace})}
    )
    try:
        return run_with_cluster(access, lambda cluster: _live_facts(cluster, namespaced_app))
    except UnreachableError:
        raise
    except click.ClickException as error:
        raise LookupRefusedError(error.message) from None


async def _live_facts(cluster: ApiClusterClient, app: StreamApp) -> LiveFacts:
    lookups = LivePartitionLookup(cluster, monotonic, _ANY)
    context = ReconcileContext(cluster, ObjectCache(), cluster.seconds, lookups, _ANY)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(context.validation_pool.close)
        closing.push_async_callback(lookups.close)
        facts = await gather_facts(context, AppKey(app.metadata.namespace, app.metadata.name), live=True)
        facts = facts or Facts(AppFacts(_new_manifest(app), NewestGeneration(1, app)), context.clock())
        counts = await _partition_counts(context, app, facts)
    layout, run_id = layout_basis(facts, app)
    return LiveFacts(counts, layout, run_id, tuple(refused_changes(facts.run, app)))


async def _partition_counts(context: ReconcileContext, app: StreamApp, facts: Facts) -> dict[str, int | None]:
    """The partition counts, from the running driver or else from the systems; repeats pending lookups."""
    for _ in range(_TRIES):
        counts = await partition_counts_for(context, app, facts)
        if isinstance(counts, KnownCounts):
            names = {stream.name for stream in app.spec.streams}
            if counts.only_driver & names:
                raise UnreachableError("only a function of the app's own gives tokens for its brokers")
            return {name: count for name, count in counts.counts.items() if name in names or count}
        if isinstance(counts, SystemMisconfigured):
            raise LookupRefusedError(f"{counts.path}: {counts.message}")
        if isinstance(counts, SystemUnavailable):
            raise UnreachableError(f'the system "{counts.system}" cannot be asked: {counts.message}')
        if isinstance(counts, LookupEnded):
            raise UnreachableError(f'asking the system "{counts.system}" was ended: {counts.message}')
        await asyncio.sleep(counts.seconds)
    raise UnreachableError("the systems do not answer")


def _new_manifest(app: StreamApp) -> dict[str, object]:
    metadata = {"name": app.metadata.name, "namespace": app.metadata.namespace, "uid": "", "generation": 1}
    return {**as_data(app), "kind": STREAM_APP.name, "metadata": metadata}
