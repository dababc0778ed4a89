"""The operator as a process of its own, before systems that know the counts of any stream."""

import asyncio
import sys
from pathlib import Path
from time import time

from streamapp.spec.app import StreamApp
from streamapp_operator.counts.answers import Counts, Known
from streamapp_operator.edge import Edge, Reconcile
from streamapp_operator.installation import Installation
from streamapp_operator.key import Key
from streamapp_operator.options import Options
from streamapp_operator.outcome import Outcome
from streamapp_operator.process import serve
from streamapp_operator.reconcile import reconcile
from streamapp_operator.telemetry.logs import log_to
from streamapp_operator.world import World

PARTITIONS = 8


class AllAlike:
    """Every stream has as many partitions as any other: no broker is what is measured here."""

    async def counts(self, app: StreamApp) -> Counts:
        """The counts of an app's streams."""
        return Known({stream.name: PARTITIONS for stream in app.spec.streams})


def reconciling(edge: Edge) -> Reconcile:
    """The operator's own reconcile."""
    installation = Installation(image="streamapp-runtime:bench")
    world = World(edge.cluster, edge.cache, time, AllAlike(), installation)

    async def one(key: Key) -> Outcome:
        return await reconcile(key, world)

    return one


def main() -> int:
    """Run until told to stop."""
    log_to()
    options = Options(kubeconfig=Path(sys.argv[1]), host="127.0.0.1", port=0)
    return asyncio.run(serve(options, reconciling))


if __name__ == "__main__":
    sys.exit(main())
