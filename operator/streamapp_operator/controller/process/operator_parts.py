"""What an operator is made of, put together: the cluster, the cache, the queue, the election."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

from streamapp.exposition.metric_collector import MetricCollector
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind
from streamapp_operator.controller.process.leader_elector import LeaderElector
from streamapp_operator.controller.process.operator_options import OperatorOptions
from streamapp_operator.controller.rbac.namespace_access import accessible_namespaces, expect_inaccessible
from streamapp_operator.controller.telemetry import operator_metrics
from streamapp_operator.controller.watch.cache_comparison import compare_cache, fill_cache
from streamapp_operator.controller.watch.cached_fields import cached_fields
from streamapp_operator.controller.watch.object_cache import WATCHED_KINDS, ObjectCache
from streamapp_operator.controller.watch.watch_activity import WatchActivity
from streamapp_operator.controller.workqueue.key_queue import KeyQueue
from streamapp_operator.controller.workqueue.liveness import OperatorLiveness
from streamapp_operator.controller.workqueue.reconcile_outcome import ReconcileOutcome

_AWAKE = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # Linux has both, macOS one that does it
Reconciler = Callable[[AppKey], Awaitable[ReconcileOutcome]]


@dataclass(frozen=True, slots=True)
class OperatorParts:
    """The parts. What reconciles is given these, and nothing else of the process."""

    cluster: ApiClusterClient
    cache: ObjectCache
    queue: KeyQueue[AppKey]
    elector: LeaderElector
    hearing: WatchActivity
    pulse: OperatorLiveness
    measured: MetricCollector
    all_calls: tuple[ApiTransport, ...]
    barred: tuple[str, ...] = ()  # namespaces that it was told to look after and may not look into

    def seen(self, kind: ResourceKind, type_: str | None, manifest: Manifest) -> None:
        """A watch brought an event."""
        self.hearing.heard(kind)
        told = self.cache.drop(kind, manifest) if type_ == "DELETED" else self.cache.put(kind, manifest)
        if told is not None:
            self.changed(told)

    def changed(self, key: AppKey) -> None:
        """Something about an app is new. Only who leads notes it: whoever comes to lead looks at all apps."""
        if self.elector.leads:
            self.queue.add(key)

    async def fill(self) -> None:
        """Read all that is watched into the cache."""
        for kind in WATCHED_KINDS:
            await fill_cache(self.cluster, self.cache, kind)
            self.hearing.compared(kind)

    async def compare(self) -> None:
        """Put the cache right where it is time for that; AdmittedError where there is more to look after."""
        due = self.hearing.due()
        if due:
            await expect_inaccessible(self.all_calls[0], self.barred)
        for kind in due:
            for key in await compare_cache(self.cluster, self.cache, kind):
                self.changed(key)
                self.measured.increment(operator_metrics.MISSED, kind.name)
            self.measured.increment(operator_metrics.COMPARISONS, kind.name)
            self.hearing.compared(kind)

    async def close(self) -> None:
        """Close the connections."""
        self.queue.close()
        for calls in self.all_calls:
            await calls.close()


async def build_operator(options: OperatorOptions, identity: str, lease_namespace: str) -> OperatorParts:
    """All parts for these options, none of them begun."""
    measured = operator_metrics.operator_collector()

    def counted(verb: str, code: str) -> None:
        measured.increment(operator_metrics.API_CALLS, verb, code)

    calls, lease_calls = [
        ApiTransport(await load_configuration(options.kubeconfig, options.context), counted) for _ in range(2)
    ]
    namespaces = await accessible_namespaces(calls, options.namespaces)
    elector = LeaderElector(
        lease_calls, lease_namespace, options.lease_name, identity, _awake, _now, options.terms
    )
    cache = ObjectCache(cached_fields, lambda app: app["spec"].get("operatorClass") == options.operator_class)
    queue = KeyQueue[AppKey](monotonic)
    cluster = ApiClusterClient(calls, namespaces, elector.leads_for, _now)
    made = OperatorParts(
        cluster=cluster,
        cache=cache,
        queue=queue,
        elector=elector,
        hearing=WatchActivity(monotonic, options.patience),
        pulse=OperatorLiveness(queue, monotonic, lambda: elector.leads),
        measured=measured,
        all_calls=(calls, lease_calls),
        barred=tuple(sorted(set(options.namespaces) - set(namespaces))),
    )
    _measure(made)
    return made


def _measure(made: OperatorParts) -> None:
    set_function = made.measured.set_gauge_function
    set_function(operator_metrics.QUEUE_DEPTH, lambda: {(): made.queue.depth})
    set_function(operator_metrics.QUEUE_AGE, lambda: {(): made.queue.age})
    set_function(operator_metrics.WATCH_AGE, made.hearing.ages)
    set_function(operator_metrics.LEADING, lambda: {(): float(made.elector.leads)})
    set_function(operator_metrics.APPS, lambda: {(): float(sum(1 for _ in made.cache.apps()))})
    set_function(operator_metrics.LOOP_LAG, lambda: {(): made.pulse.lag})


def _now() -> datetime:
    return datetime.now(UTC)


def _awake() -> float:
    """Seconds that go on while the machine sleeps: a laptop that wakes up leads no more."""
    return time.clock_gettime(_AWAKE)
