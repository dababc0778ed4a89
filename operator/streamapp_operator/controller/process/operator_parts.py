"""The parts of an operator: builds the client, cache, queue and elector, and connects them."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic

from streamapp.exposition.metric_collector import MetricCollector
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.client.concurrent_calls import side_by_side
from streamapp_operator.controller.client.manifest import AppKey, Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind
from streamapp_operator.controller.client.server_clock import ServerClock
from streamapp_operator.controller.process.leader_elector import LeaderElector
from streamapp_operator.controller.process.operator_options import OperatorOptions
from streamapp_operator.controller.rbac.namespace_access import accessible_namespaces, expect_inaccessible
from streamapp_operator.controller.telemetry import operator_metrics
from streamapp_operator.controller.telemetry.app_metrics import AppCollector
from streamapp_operator.controller.watch.cache_comparison import compare_cache, fill_cache
from streamapp_operator.controller.watch.cached_fields import cached_fields
from streamapp_operator.controller.watch.object_cache import WATCHED_KINDS, ObjectCache
from streamapp_operator.controller.watch.watch_activity import WatchActivity
from streamapp_operator.controller.workqueue.key_queue import KeyQueue
from streamapp_operator.controller.workqueue.liveness import AnsweredRequests, OperatorLiveness
from streamapp_operator.controller.workqueue.reconcile_outcome import ReconcileOutcome

_BOOT_CLOCK = getattr(
    time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC
)  # macOS has no CLOCK_BOOTTIME, and its monotonic clock behaves like it
Reconciler = Callable[[AppKey], Awaitable[ReconcileOutcome]]


@dataclass(frozen=True, slots=True)
class OperatorParts:
    """The parts of a running operator; a reconciler is built from these alone."""

    cluster: ApiClusterClient
    cache: ObjectCache
    queue: KeyQueue[AppKey]
    elector: LeaderElector
    watch_activity: WatchActivity
    liveness: OperatorLiveness
    metrics: MetricCollector
    app_metrics: AppCollector
    transports: tuple[ApiTransport, ...]
    inaccessible: tuple[str, ...] = ()  # configured namespaces that the operator may not read

    def on_event(self, kind: ResourceKind, type_: str | None, manifest: Manifest) -> None:
        """Handle a watch event: update the cache and enqueue the app."""
        self.watch_activity.event_seen(kind)
        key = self.cache.delete(kind, manifest) if type_ == "DELETED" else self.cache.put(kind, manifest)
        if key is not None:
            self.enqueue(key)

    def enqueue(self, key: AppKey) -> None:
        """Enqueue an app that changed. Only the leader does so: a new leader enqueues all apps."""
        if self.elector.leads:
            self.queue.add(key)

    async def fill_cache(self) -> None:
        """Read all watched objects into the cache."""
        await side_by_side([fill_cache(self.cluster, self.cache, kind) for kind in WATCHED_KINDS])
        for kind in WATCHED_KINDS:
            self.watch_activity.cache_compared(kind)

    async def compare_cache(self) -> None:
        """Compare the cache with the API server for each kind that is due.

        A NamespaceAccessibleError where an inaccessible namespace became accessible.
        """
        due = self.watch_activity.kinds_to_compare()
        if due:
            await expect_inaccessible(self.transports[0], self.inaccessible)
        for kind in due:
            for key in await compare_cache(self.cluster, self.cache, kind):
                self.enqueue(key)
                self.metrics.increment(operator_metrics.MISSED, kind.name)
            self.metrics.increment(operator_metrics.COMPARISONS, kind.name)
            self.watch_activity.cache_compared(kind)

    async def close(self) -> None:
        """Close the connections."""
        self.queue.close()
        for transport in self.transports:
            await transport.close()


async def build_operator(options: OperatorOptions, identity: str, lease_namespace: str) -> OperatorParts:
    """A operator for these options; none of its parts is started."""
    metrics, requests = operator_metrics.operator_collector(), AnsweredRequests(monotonic)

    def count_request(verb: str, code: str) -> None:
        metrics.increment(operator_metrics.API_CALLS, verb, code)

    def note_request(verb: str, code: str) -> None:
        count_request(verb, code)
        requests.request_ended(code)

    app_metrics = AppCollector()
    metrics.registry.register(app_metrics)
    clock = ServerClock()
    transport, lease_transport = [
        ApiTransport(await load_configuration(options.kubeconfig, options.context), on_request, clock)
        for on_request in (note_request, count_request)
    ]
    namespaces = await accessible_namespaces(transport, options.namespaces)
    elector = LeaderElector(
        lease_transport,
        lease_namespace,
        options.lease_name,
        identity,
        _boot_clock,
        clock.now,
        options.lease_terms,
    )
    cache = ObjectCache(cached_fields, lambda app: app["spec"].get("operatorClass") == options.operator_class)
    queue = KeyQueue[AppKey](monotonic)
    cluster = ApiClusterClient(transport, namespaces, elector.leads_for, clock.now)
    operator = OperatorParts(
        cluster=cluster,
        cache=cache,
        queue=queue,
        elector=elector,
        watch_activity=WatchActivity(monotonic, options.watch_timeouts),
        liveness=OperatorLiveness(queue, monotonic, lambda: elector.leads, requests),
        metrics=metrics,
        app_metrics=app_metrics,
        transports=(transport, lease_transport),
        inaccessible=tuple(sorted(set(options.namespaces) - set(namespaces))),
    )
    _set_gauge_functions(operator)
    return operator


def _set_gauge_functions(operator: OperatorParts) -> None:
    set_gauge_function = operator.metrics.set_gauge_function
    set_gauge_function(operator_metrics.QUEUE_DEPTH, lambda: {(): operator.queue.depth})
    set_gauge_function(operator_metrics.QUEUE_AGE, lambda: {(): operator.queue.age})
    set_gauge_function(operator_metrics.WATCH_AGE, operator.watch_activity.inactivity)
    set_gauge_function(operator_metrics.LEADING, lambda: {(): float(operator.elector.leads)})
    set_gauge_function(operator_metrics.APPS, lambda: {(): float(sum(1 for _ in operator.cache.apps()))})
    set_gauge_function(operator_metrics.LOOP_LAG, lambda: {(): operator.liveness.lag})


def _boot_clock() -> float:
    """Seconds of a clock that counts on during sleep: a laptop that wakes up no longer leads."""
    return time.clock_gettime(_BOOT_CLOCK)
