"""The operator as a process of its own, before systems that know the counts of any stream."""

import asyncio
import sys
from pathlib import Path

from streamapp.spec.app import StreamApp
from streamapp_operator.counts.answers import Counts, Known
from streamapp_operator.installation import Installation
from streamapp_operator.operating import reconciling
from streamapp_operator.options import Options
from streamapp_operator.process import serve
from streamapp_operator.telemetry.logs import log_to

PARTITIONS = 8


class AllAlike:
    """Every stream has as many partitions as any other: no broker is what is measured here."""

    async def counts(self, app: StreamApp) -> Counts:
        """The counts of an app's streams."""
        return Known({stream.name: PARTITIONS for stream in app.spec.streams})


def main() -> int:
    """Run until told to stop."""
    log_to()
    options = Options(kubeconfig=Path(sys.argv[1]), host="127.0.0.1", port=0)
    installation = Installation(image="streamapp-runtime:bench")
    return asyncio.run(serve(options, reconciling(installation, lambda _: AllAlike())))


if __name__ == "__main__":
    sys.exit(main())
