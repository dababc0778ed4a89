"""An operator that copies an app's number of processors into a ConfigMap: the edge, and no decisions."""

import sys

from streamapp_operator.edge import Edge, Reconcile
from streamapp_operator.key import Key
from streamapp_operator.outcome import Done, Outcome
from tests.control_plane.starting import start


def echoing(edge: Edge) -> Reconcile:
    async def reconcile(key: Key) -> Outcome:
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
                }
            )
        return Done()

    return reconcile


if __name__ == "__main__":
    sys.exit(start(echoing))
