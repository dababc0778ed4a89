"""Builds the reconciler from an operator's parts."""

from collections.abc import Callable

from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.process.operator_parts import OperatorParts, Reconciler
from streamapp_operator.controller.workqueue.reconcile_outcome import ReconcileOutcome
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import PartitionLookup
from streamapp_operator.reconciler.reconcile import reconcile


def reconciler_for(
    installation: Installation, lookup: Callable[[ClusterClient], PartitionLookup]
) -> Callable[[OperatorParts], Reconciler]:
    """A function that builds the reconciler of an operator."""

    def build(operator: OperatorParts) -> Reconciler:
        partition_lookup = lookup(operator.cluster)
        cluster = operator.cluster
        context = ReconcileContext(
            cluster,
            operator.cache,
            cluster.seconds,
            partition_lookup,
            installation,
            operator.metrics,
            operator.app_metrics,
        )

        async def reconcile_key(key: AppKey) -> ReconcileOutcome:
            return await reconcile(key, context)

        return reconcile_key

    return build
