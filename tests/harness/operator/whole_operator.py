"""The whole operator, before systems whose streams all have the same number of partitions."""

import sys

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts, PartitionCounts
from streamapp_operator.reconciler.reconciler_factory import reconciler_for
from tests.harness.operator.operator_start import start

PARTITIONS = 8
LARGE = "large-"
"""Beginning of the names of apps whose streams have many partitions."""
MANY_PARTITIONS = 40_000


class AllAlike:
    """No broker is what is tried, or measured, here."""

    async def counts(self, app: StreamApp) -> PartitionCounts:
        partitions = MANY_PARTITIONS if app.metadata.name.startswith(LARGE) else PARTITIONS
        return KnownCounts({stream.name: partitions for stream in app.spec.streams})


if __name__ == "__main__":
    sys.exit(start(reconciler_for(Installation(image="streamapp-runtime:test"), lambda _: AllAlike())))
