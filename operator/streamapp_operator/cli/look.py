"""`streamapp plan --cluster`: what the operator would say to an app, without applying it."""

import asyncio
from time import time

import click

from streamapp.cli.away import AwayError
from streamapp.cli.looked import Asked, Looked, NoLookError
from streamapp.spec.app import StreamApp
from streamapp.spec.render import as_data
from streamapp_operator.cli.calling import DEFAULT_NAMESPACE, asked
from streamapp_operator.cluster.api import ApiCluster
from streamapp_operator.cluster.cache import Cache
from streamapp_operator.cluster.kinds import STREAM_APP
from streamapp_operator.counts.answers import Known, Misused, Unavailable
from streamapp_operator.counts.lookups import Lookups
from streamapp_operator.facts.facts import Facts, Newest
from streamapp_operator.facts.gather import counts_for, gather
from streamapp_operator.installation import Allowance, Installation
from streamapp_operator.key import Key
from streamapp_operator.steps.accept import refused_changes
from streamapp_operator.steps.author import basis
from streamapp_operator.world import World

_ANY = Installation(image="any", host_path_roots=("/",), allowed=frozenset(Allowance), storage_class="any")
"""What an installation allows is known to its operator alone."""
_TRIES = 40


def look(app: StreamApp, where: Asked) -> Looked:
    """What the cluster knows of this app, and what it would refuse."""
    namespace = where.namespace or app.metadata.namespace or DEFAULT_NAMESPACE
    placed = app.model_copy(update={"metadata": app.metadata.model_copy(update={"namespace": namespace})})
    try:
        return asked(where.kubeconfig, where.context, lambda cluster: _looked(cluster, placed))
    except AwayError:
        raise
    except click.ClickException as error:
        raise NoLookError(error.message) from None


async def _looked(cluster: ApiCluster, app: StreamApp) -> Looked:
    lookups = Lookups(cluster, time)
    world = World(cluster, Cache(), time, lookups, _ANY)
    facts = await gather(world, Key(app.metadata.namespace, app.metadata.name), live=True)
    facts = facts or Facts(_fresh(app), Newest(1, app), time())
    counts = await _counted(world, app, facts)
    layout, run = basis(facts, app)
    lookups.close()
    return Looked(counts, layout, run, tuple(refused_changes(facts, app)))


async def _counted(world: World, app: StreamApp, facts: Facts) -> dict[str, int | None]:
    """The counts, from the driver that runs or else from the systems, as often as it takes to answer."""
    for _ in range(_TRIES):
        found = await counts_for(world, app, facts)
        if isinstance(found, Known):
            names = {stream.name for stream in app.spec.streams}
            return {name: count for name, count in found.counts.items() if name in names or count}
        if isinstance(found, Misused):
            raise NoLookError(f"{found.path}: {found.message}")
        if isinstance(found, Unavailable):
            raise AwayError(f'the system "{found.system}" cannot be asked: {found.message}')
        await asyncio.sleep(found.seconds)
    raise AwayError("the systems do not answer")


def _fresh(app: StreamApp) -> dict[str, object]:
    metadata = {"name": app.metadata.name, "namespace": app.metadata.namespace, "uid": "", "generation": 1}
    return {**as_data(app), "kind": STREAM_APP.name, "metadata": metadata}
