"""Partition counts of live systems: one cache for all apps that share brokers and credentials.

An unavailable cluster does not delay other apps: lookups run in processes of their own, one for an app at a
time. A reconcile waits a moment for the answer and otherwise repeats the lookup later.
"""

import asyncio
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import inf

from streamapp.author.app_streams import topics_of_system
from streamapp.backoff import Backoff
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.kafka_settings import TOKEN_FUNCTION, refused_secret
from streamapp.spec.resource.systems import Kafka
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.resource_kinds import SECRET
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.named_objects import not_allowed, token_hosts
from streamapp_operator.reconciler.partition_counts.lookup_messages import ANSWER_SECONDS, LookupRequest
from streamapp_operator.reconciler.partition_counts.lookup_processes import LookupProcesses
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    LookupEnded,
    PartitionCounts,
    PendingCounts,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.result_caches import RecentResults

ANSWER_WAIT_SECONDS = 0.8
"""Seconds that a reconcile waits for an answer."""
FRESH_SECONDS = 10.0
NOT_ASKED_SECONDS = 60.0
_BACKOFF = Backoff(2.0, 120.0)


@dataclass(slots=True)
class _ClusterState:
    """One cluster with the credentials for it: its cached counts and its running lookup."""

    counts: dict[str, tuple[int | None, float]] = field(default_factory=dict)  # with the time of its lookup
    task: "asyncio.Task[None] | None" = None
    failures: int = 0
    error: str = ""
    not_before: float = 0.0

    def counts_of(self, topics: Mapping[str, str], since: float = -inf) -> KnownCounts | None:
        """The counts of these topics by stream, where all of them have been looked up since then."""
        counts = {name: count for name, (count, asked_at) in self.counts.items() if asked_at > since}
        if set(topics.values()) <= counts.keys():
            return KnownCounts({stream: counts[topic] for stream, topic in topics.items()})
        return None


@dataclass(slots=True)
class _AppState:
    """The lookup that an app has caused, and the last one that was ended: of no other app's concern."""

    task: "asyncio.Task[None] | None" = None
    ended_lookup: LookupRequest | None = field(default=None, repr=False)
    ends: int = 0
    error: str = ""
    not_before: float = 0.0


class LivePartitionLookup:
    """Looks up partition counts in Kafka and caches them for some seconds."""

    def __init__(
        self,
        cluster: ClusterClient,
        clock: Callable[[], float],
        installation: Installation,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self._cluster = cluster
        self._installation = installation
        self._clock = clock
        self._answer_seconds = answer_seconds
        self._clusters: RecentResults[_ClusterState] = RecentResults(256)
        self._apps: RecentResults[_AppState] = RecentResults(8192)
        self._tasks: set[asyncio.Task[None]] = set()
        self.lookups = LookupProcesses(answer_seconds)

    @property
    def clusters(self) -> int:
        """The number of clusters that are known, each with one set of credentials."""
        return len(self._clusters)

    async def counts(self, app: StreamApp) -> PartitionCounts:
        """The counts of all streams of an app, including its own topics that exist."""
        counts: dict[str, int | None] = {}
        only_driver: set[str] = set()
        app_state = self._apps.get((app.metadata.namespace, app.metadata.name), _AppState)
        for index, system in enumerate(app.spec.systems):
            if system.kafka is None:
                continue
            topics = topics_of_system(app, index)
            if TOKEN_FUNCTION in system.kafka.config:  # which is code of the app: none runs here
                only_driver |= topics.keys()
                continue
            settings = await self._settings(app, index, system.kafka)
            if isinstance(settings, SystemMisconfigured):
                return settings
            problem = next(not_allowed(token_hosts(settings, system.name), self._installation), None)
            if problem is not None:  # an earlier installation may have accepted it: its driver starts still
                message = f"it is not asked: {problem.message}"
                return SystemUnavailable(system.name, message, NOT_ASKED_SECONDS)
            request = LookupRequest(
                bootstrap_servers=system.kafka.bootstrap_servers,
                settings=settings,
                topics=sorted(set(topics.values())),
                seconds=self._answer_seconds,
            )
            answer = await self._counts_of_system(app_state, system.name, request, topics)
            if not isinstance(answer, KnownCounts):
                return answer
            counts |= answer.counts
        app_state.ends = 0
        return KnownCounts(counts, frozenset(only_driver))

    async def _settings(
        self, app: StreamApp, index: int, kafka: Kafka
    ) -> dict[str, str] | SystemMisconfigured:
        """The settings from the resource and its Secret, which has to be in the app's namespace."""
        if kafka.config_secret is None:
            return dict(kafka.config)
        path = f"spec.systems[{index}].kafka.configSecret"
        name = kafka.config_secret.name
        secret = await self._cluster.read(SECRET, app.metadata.namespace, name)
        if secret is None:
            return SystemMisconfigured(
                path, f'there is no Secret "{name}" in namespace {app.metadata.namespace}', 15.0
            )
        try:
            secret_settings = {
                k: b64decode(v).decode().rstrip("\n") for k, v in (secret.get("data") or {}).items()
            }
        except ValueError:
            return SystemMisconfigured(path, f'not all of Secret "{name}" is text')
        if refused := refused_secret(secret_settings):
            return SystemMisconfigured(path, f'Secret "{name}": {refused}')
        return {**kafka.config, **secret_settings}

    async def _counts_of_system(
        self, app: _AppState, system: str, request: LookupRequest, topics: Mapping[str, str]
    ) -> PartitionCounts:
        cluster = self._clusters.get(_key(request), _ClusterState)
        if counts := cluster.counts_of(topics, self._clock() - FRESH_SECONDS):
            return counts
        failure = self._failure(app, cluster, system, request)
        if failure is not None and failure.seconds > 0:
            return failure
        if cluster.task is None or cluster.task.done():
            if app.task is not None and not app.task.done():
                return PendingCounts()  # of what it named before
            cluster.task = app.task = asyncio.create_task(self._refresh(cluster, app, request))
            self._tasks.add(cluster.task)
            cluster.task.add_done_callback(self._tasks.discard)
        await asyncio.wait({cluster.task}, timeout=ANSWER_WAIT_SECONDS)
        if not cluster.task.done():
            return PendingCounts()
        if failure := self._failure(app, cluster, system, request):
            return replace(failure, seconds=max(0.1, failure.seconds))
        # Counts that are not there: the finished lookup was for another app's topics.
        return cluster.counts_of(topics) or PendingCounts(0.1)

    def _failure(
        self, app: _AppState, cluster: _ClusterState, system: str, request: LookupRequest
    ) -> LookupEnded | SystemUnavailable | None:
        """The failure of the last lookup, with the seconds until the next one; below 0 where that is due."""
        now = self._clock()
        if app.ended_lookup == request:
            return LookupEnded(system, app.error, app.not_before - now)
        return SystemUnavailable(system, cluster.error, cluster.not_before - now) if cluster.error else None

    async def _refresh(self, cluster: _ClusterState, app: _AppState, request: LookupRequest) -> None:
        doubtful = bool(cluster.failures or app.ends)
        answer = await self.lookups.look_up(request, doubtful=doubtful)
        now = self._clock()
        if answer.ended:
            app.ends += 1
            app.ended_lookup, app.error = request, answer.ended
            app.not_before = now + _BACKOFF.seconds(app.ends)
            return
        if app.ended_lookup == request:
            app.ended_lookup = None
        cluster.error = answer.unavailable
        if cluster.error:
            cluster.failures += 1
            cluster.not_before = now + _BACKOFF.seconds(cluster.failures)
            return
        cluster.failures = 0
        cluster.counts = {
            name: entry for name, entry in cluster.counts.items() if now - entry[1] < FRESH_SECONDS
        }
        cluster.counts |= {name: (count, now) for name, count in answer.counts.items()}

    async def close(self) -> None:
        """End the lookups and their processes."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.lookups.close()


def _key(request: LookupRequest) -> str:
    """A hash of brokers and credentials, which does not reveal them."""
    client = (request["bootstrap_servers"], sorted(request["settings"].items()))
    return blake2b(repr(client).encode(), digest_size=16).hexdigest()
