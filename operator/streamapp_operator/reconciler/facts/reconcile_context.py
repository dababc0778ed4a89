"""What a reconcile is given of the process that it runs in."""

from collections.abc import Callable
from dataclasses import dataclass, field

from streamapp.exposition.metric_collector import MetricCollector
from streamapp.protocol.driver_report import Report
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.telemetry.operator_metrics import operator_collector
from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.facts.facts import DesiredModel, NewestGeneration
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import PartitionLookup
from streamapp_operator.reconciler.result_caches import MemoizedResults, RecentResults


@dataclass(frozen=True, slots=True)
class ReconcileContext:
    """The cluster, what was seen of it, the time, and who knows partition counts."""

    cluster: ClusterClient
    cache: ObjectCache
    clock: Callable[[], float]  # seconds since 1970
    lookup: PartitionLookup
    installation: Installation
    measured: MetricCollector = field(default_factory=operator_collector)
    apps: RecentResults[NewestGeneration] = field(default_factory=RecentResults)
    snapshots: RecentResults[AcceptedGeneration | None] = field(default_factory=RecentResults)
    desires: RecentResults[DesiredModel | None] = field(default_factory=RecentResults)
    reports: RecentResults[Report | None] = field(default_factory=RecentResults)
    worked: MemoizedResults = field(default_factory=MemoizedResults)
    whole: RecentResults[Manifest] = field(
        default_factory=RecentResults
    )  # ConfigMaps of which the cache keeps no data
