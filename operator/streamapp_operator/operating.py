"""The edge and the decisions, put together."""

from collections.abc import Callable
from time import time

from streamapp_operator.cluster.cluster import Cluster
from streamapp_operator.counts.answers import Lookup
from streamapp_operator.edge import Edge, Reconcile
from streamapp_operator.installation import Installation
from streamapp_operator.key import Key
from streamapp_operator.outcome import Outcome
from streamapp_operator.reconcile import reconcile
from streamapp_operator.world import World


def reconciling(
    installation: Installation, lookup: Callable[[Cluster], Lookup]
) -> Callable[[Edge], Reconcile]:
    """What an edge has its keys reconciled by."""

    def within(edge: Edge) -> Reconcile:
        asked = lookup(edge.cluster)
        world = World(edge.cluster, edge.cache, time, asked, installation, edge.measured)

        async def one(key: Key) -> Outcome:
            return await reconcile(key, world)

        return one

    return within
