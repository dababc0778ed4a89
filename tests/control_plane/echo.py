"""An operator that copies an app's number of processors into a ConfigMap: the edge, and no decisions."""

import asyncio
import logging
import sys
from dataclasses import astuple
from pathlib import Path

from streamapp_operator.edge import Edge, Reconcile
from streamapp_operator.key import Key
from streamapp_operator.leading.lease import Terms
from streamapp_operator.options import Options
from streamapp_operator.outcome import Done, Outcome
from streamapp_operator.process import serve
from streamapp_operator.telemetry.logs import log_to
from streamapp_operator.watch.patience import Patience


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


def main() -> int:
    kubeconfig, namespace, identity, pace, patience = sys.argv[1:]
    log_to(level=logging.DEBUG)
    options = Options(
        namespaces=(namespace,),
        kubeconfig=Path(kubeconfig),
        identity=identity,
        host="127.0.0.1",
        port=0,
        terms=Terms(*(seconds * float(pace) for seconds in astuple(Terms()))),
        patience=Patience(*(seconds * float(patience) for seconds in astuple(Patience()))),
    )
    return asyncio.run(serve(options, echoing))


if __name__ == "__main__":
    sys.exit(main())
