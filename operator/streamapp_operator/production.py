"""The reconcile of an operator in earnest: over its edge, with live look-ups."""

import time
from functools import partial

from streamapp_operator.counts.lookups import Lookups
from streamapp_operator.edge import Edge, Reconcile
from streamapp_operator.installation import Installation
from streamapp_operator.key import Key
from streamapp_operator.outcome import Outcome
from streamapp_operator.reconcile import reconcile
from streamapp_operator.world import World


def reconciling(installation: Installation, edge: Edge) -> Reconcile:
    """What the queue's workers call for each key; give the installation with `partial`."""
    lookups = Lookups(edge.cluster, time.time)
    world = World(edge.cluster, edge.cache, time.time, lookups, installation)
    return partial(_reconcile, world)


async def _reconcile(world: World, key: Key) -> Outcome:
    return await reconcile(key, world)
