"""The whole operator, before systems whose streams all have the same number of partitions."""

import sys

from streamapp.spec.app import StreamApp
from streamapp_operator.counts.answers import Counts, Known
from streamapp_operator.installation import Installation
from streamapp_operator.operating import reconciling
from tests.control_plane.starting import start

PARTITIONS = 8


class AllAlike:
    """No broker is what is tried, or measured, here."""

    async def counts(self, app: StreamApp) -> Counts:
        return Known({stream.name: PARTITIONS for stream in app.spec.streams})


if __name__ == "__main__":
    sys.exit(start(reconciling(Installation(image="streamapp-runtime:test"), lambda _: AllAlike())))
