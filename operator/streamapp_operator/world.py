"""What a reconcile is given of the process that it runs in."""

from collections.abc import Callable
from dataclasses import dataclass, field

from streamapp.protocol.report import Report
from streamapp_operator.cluster.cache import Cache
from streamapp_operator.cluster.cluster import Cluster
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.counts.answers import Lookup
from streamapp_operator.facts.facts import Desired, Newest
from streamapp_operator.facts.recent import Recent
from streamapp_operator.facts.worked_out import WorkedOut
from streamapp_operator.installation import Installation
from streamapp_operator.objects.snapshot import Snapshot
from streamapp_operator.telemetry.measured import Measured


@dataclass(frozen=True, slots=True)
class World:
    """The cluster, what was seen of it, the time, and who knows partition counts."""

    cluster: Cluster
    cache: Cache
    clock: Callable[[], float]  # seconds since 1970
    lookup: Lookup
    installation: Installation
    measured: Measured = field(default_factory=Measured)
    apps: Recent[Newest] = field(default_factory=Recent)
    snapshots: Recent[Snapshot | None] = field(default_factory=Recent)
    desires: Recent[Desired | None] = field(default_factory=Recent)
    reports: Recent[Report | None] = field(default_factory=Recent)
    worked: WorkedOut = field(default_factory=WorkedOut)
    whole: Recent[Manifest] = field(default_factory=Recent)  # ConfigMaps of which the cache keeps no data
