"""The context of a reconcile: its access to the cluster and to the process."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from streamapp.exposition.metric_collector import MetricCollector
from streamapp.protocol.driver_report import Report
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.telemetry.app_metrics import AppCollector
from streamapp_operator.controller.telemetry.operator_metrics import operator_collector
from streamapp_operator.controller.watch.object_cache import ObjectCache
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.facts.facts import DesiredModel, DryRun, RefusedPod
from streamapp_operator.reconciler.facts.generation_validation import GenerationValidation
from streamapp_operator.reconciler.facts.validation_pool import ValidationPool
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import PartitionLookup
from streamapp_operator.reconciler.result_caches import MemoizedResults, RecentResults


@dataclass(frozen=True, slots=True)
class DecodedObjects:
    """Objects of apps as they were read last; whoever decodes one again gets the same."""

    validations: RecentResults[GenerationValidation] = field(default_factory=RecentResults)
    generations: RecentResults[AcceptedGeneration | None] = field(default_factory=RecentResults)
    models: RecentResults[DesiredModel | None] = field(default_factory=RecentResults)
    reports: RecentResults[Report | None] = field(default_factory=RecentResults)
    revisions: RecentResults[tuple[StreamApp | None]] = field(default_factory=RecentResults)
    """The apps of revisions, by uid; None where one cannot be read."""
    revision_hashes: RecentResults[str] = field(default_factory=lambda: RecentResults(max_size=8192))
    """The hashes of accepted generations, by uid and generation: each takes a millisecond."""
    config_maps: RecentResults[Manifest] = field(default_factory=RecentResults)
    """ConfigMaps whose data the object cache drops."""


@dataclass(frozen=True, slots=True)
class Sightings:
    """Sights of the cluster and answers of the API server that an operator remembers, with the time."""

    dry_runs: RecentResults[DryRun] = field(default_factory=RecentResults)
    unready_nodes: RecentResults[float] = field(default_factory=RecentResults)
    """When this operator first saw each node in a state that it is not ready in."""
    executor_losses: RecentResults[float] = field(default_factory=RecentResults)
    """When this operator first saw each driver with fewer executors than it is to have, by these."""
    refused_executors: RecentResults[tuple[float, RefusedPod | None]] = field(default_factory=RecentResults)
    """What the API server said of an executor of each generation, with the time when it was asked."""
    silent_drivers: RecentResults[float] = field(default_factory=RecentResults)
    """When this operator first saw each driver silent, by its uid and since when its node says so."""
    configuration: RecentResults[tuple[float, str]] = field(
        default_factory=lambda: RecentResults(max_size=8192)
    )
    """Versions of Secrets and ConfigMaps that apps name, each with the time when it was looked up."""


@dataclass(frozen=True, slots=True)
class ReconcileContext:
    """The cluster client, the cache, the clock, the lookup of partition counts, and caches of results."""

    cluster: ClusterClient
    cache: ObjectCache
    clock: Callable[[], float]  # seconds since 1970, of the API server
    lookup: PartitionLookup
    installation: Installation
    metrics: MetricCollector = field(default_factory=operator_collector)
    app_metrics: AppCollector = field(default_factory=AppCollector)
    validation_pool: ValidationPool = field(default_factory=ValidationPool)
    decoded: DecodedObjects = field(default_factory=DecodedObjects)
    sightings: Sightings = field(default_factory=Sightings)
    memoized: MemoizedResults = field(default_factory=MemoizedResults)
    large_plans: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """Large apps are planned one after the other, so that the memory is that of one plan."""
