"""The edge and the decisions, put together."""

from collections.abc import Callable
from time import time

from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.process.operator_parts import OperatorParts, Reconciler
from streamapp_operator.controller.workqueue.reconcile_outcome import ReconcileOutcome
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import PartitionLookup
from streamapp_operator.reconciler.reconcile import reconcile


def reconciler_for(
    installation: Installation, lookup: Callable[[ClusterClient], PartitionLookup]
) -> Callable[[OperatorParts], Reconciler]:
    """What an edge has its keys reconciled by."""

    def within(edge: OperatorParts) -> Reconciler:
        asked = lookup(edge.cluster)
        world = ReconcileContext(edge.cluster, edge.cache, time, asked, installation, edge.measured)

        async def one(key: AppKey) -> ReconcileOutcome:
            return await reconcile(key, world)

        return one

    return within
