"""What an operator is made of, put together: the cluster, the cache, the queue, the election."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

from streamapp_operator.cluster.access import access
from streamapp_operator.cluster.admitted import admitted, expect_barred
from streamapp_operator.cluster.api import ApiCluster
from streamapp_operator.cluster.cache import WATCHED, Cache
from streamapp_operator.cluster.calls import Calls
from streamapp_operator.cluster.kinds import Kind
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.key import Key
from streamapp_operator.leading.elector import Elector
from streamapp_operator.options import Options
from streamapp_operator.outcome import Outcome
from streamapp_operator.pulse import Pulse
from streamapp_operator.telemetry import metrics
from streamapp_operator.telemetry.measured import Measured
from streamapp_operator.watch.comparison import compare, fill
from streamapp_operator.watch.hearing import Hearing
from streamapp_operator.watch.remembered import remembered
from streamapp_operator.work.queue import KeyQueue

_AWAKE = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # Linux has both, macOS one that does it
Reconcile = Callable[[Key], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Edge:
    """The parts. What reconciles is given these, and nothing else of the process."""

    cluster: ApiCluster
    cache: Cache
    queue: KeyQueue[Key]
    elector: Elector
    hearing: Hearing
    pulse: Pulse
    measured: Measured
    all_calls: tuple[Calls, ...]
    barred: tuple[str, ...] = ()  # namespaces that it was told to look after and may not look into

    def seen(self, kind: Kind, type_: str | None, manifest: Manifest) -> None:
        """A watch brought an event."""
        self.hearing.heard(kind)
        told = self.cache.drop(kind, manifest) if type_ == "DELETED" else self.cache.put(kind, manifest)
        if told is not None:
            self.changed(told)

    def changed(self, key: Key) -> None:
        """Something about an app is new. Only who leads notes it: whoever comes to lead looks at all apps."""
        if self.elector.leads:
            self.queue.add(key)

    async def fill(self) -> None:
        """Read all that is watched into the cache."""
        for kind in WATCHED:
            await fill(self.cluster, self.cache, kind)
            self.hearing.compared(kind)

    async def compare(self) -> None:
        """Put the cache right where it is time for that; AdmittedError where there is more to look after."""
        due = self.hearing.due()
        if due:
            await expect_barred(self.all_calls[0], self.barred)
        for kind in due:
            for key in await compare(self.cluster, self.cache, kind):
                self.changed(key)
                self.measured.add(metrics.MISSED, kind.name)
            self.measured.add(metrics.COMPARISONS, kind.name)
            self.hearing.compared(kind)

    async def close(self) -> None:
        """Close the connections."""
        self.queue.close()
        for calls in self.all_calls:
            await calls.close()


async def edge(options: Options, identity: str, lease_namespace: str) -> Edge:
    """All parts for these options, none of them begun."""
    measured = Measured()

    def counted(verb: str, code: str) -> None:
        measured.add(metrics.API_CALLS, verb, code)

    calls, lease_calls = [Calls(await access(options.kubeconfig, options.context), counted) for _ in range(2)]
    namespaces = await admitted(calls, options.namespaces)
    elector = Elector(lease_calls, lease_namespace, options.lease_name, identity, _awake, _now, options.terms)
    cache = Cache(remembered, lambda app: app["spec"].get("operatorClass") == options.operator_class)
    queue = KeyQueue[Key](monotonic)
    cluster = ApiCluster(calls, namespaces, elector.leads_for, _now)
    made = Edge(
        cluster=cluster,
        cache=cache,
        queue=queue,
        elector=elector,
        hearing=Hearing(monotonic, options.patience),
        pulse=Pulse(queue, monotonic, lambda: elector.leads),
        measured=measured,
        all_calls=(calls, lease_calls),
        barred=tuple(sorted(set(options.namespaces) - set(namespaces))),
    )
    _measure(made)
    return made


def _measure(made: Edge) -> None:
    look = made.measured.look
    look(metrics.QUEUE_DEPTH, lambda: {(): made.queue.depth})
    look(metrics.QUEUE_AGE, lambda: {(): made.queue.age})
    look(metrics.WATCH_AGE, made.hearing.ages)
    look(metrics.LEADING, lambda: {(): float(made.elector.leads)})
    look(metrics.APPS, lambda: {(): float(sum(1 for _ in made.cache.apps()))})
    look(metrics.LOOP_LAG, lambda: {(): made.pulse.lag})


def _now() -> datetime:
    return datetime.now(UTC)


def _awake() -> float:
    """Seconds that go on while the machine sleeps: a laptop that wakes up leads no more."""
    return time.clock_gettime(_AWAKE)
