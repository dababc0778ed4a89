"""An operator that copies an app's number of processors into a ConfigMap: the edge, and no decisions."""

import sys

from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.process.operator_parts import OperatorParts, Reconciler
from streamapp_operator.controller.workqueue.reconcile_outcome import ReconcileDone, ReconcileOutcome
from tests.harness.operator.operator_start import start


def echoing(edge: OperatorParts) -> Reconciler:
    async def reconcile(key: AppKey) -> ReconcileOutcome:
        app = edge.cache.app(key)
        if app is not None:
            await edge.cluster.apply(
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {
                        "name": f"{key.name}-echo",
                        "namespace": key.namespace,
                        "labels": {"streamapp.dev/app": key.name},
                    },
                    "data": {"processors": str(app["spec"]["processors"])},
                },
                lambda _: True,
            )
        return ReconcileDone()

    return reconcile


if __name__ == "__main__":
    sys.exit(start(echoing))
