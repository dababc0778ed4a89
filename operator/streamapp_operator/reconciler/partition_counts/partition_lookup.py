"""Partition counts of live systems: one client for all apps that share brokers and credentials.

An unavailable cluster does not delay other apps: lookups run on their own threads, a reconcile waits a
moment for the answer and otherwise repeats the lookup later.
"""

import asyncio
from base64 import b64decode
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import blake2b

from streamapp.author.app_streams import topics_of_system
from streamapp.backoff import Backoff
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.kafka_settings import refused_secret
from streamapp.spec.resource.systems import Kafka
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.resource_kinds import SECRET
from streamapp_operator.reconciler.partition_counts.kafka_admin import (
    ANSWER_SECONDS,
    KafkaTopicAdmin,
    KafkaUnavailableError,
)
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    PartitionCounts,
    PendingCounts,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.result_caches import RecentResults

ANSWER_WAIT_SECONDS = 0.8
"""Seconds that a reconcile waits for an answer."""
FRESH_SECONDS = 10.0
_BACKOFF = Backoff(2.0, 120.0)
THREADS = 8


@dataclass(slots=True)
class _ClientState:
    """One client, its cached counts and its running lookup."""

    client: KafkaTopicAdmin
    counts: dict[str, tuple[int | None, float]] = field(default_factory=dict)  # with the time of its lookup
    task: "asyncio.Task[None] | None" = None
    failures: int = 0
    error: str = ""
    not_before: float = 0.0


class LivePartitionLookup:
    """Looks up partition counts in Kafka and caches them for some seconds."""

    def __init__(
        self, cluster: ClusterClient, clock: Callable[[], float], answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._answer_seconds = answer_seconds
        self._clients: RecentResults[_ClientState] = RecentResults(256)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="counts")

    @property
    def clients(self) -> int:
        """The number of clients."""
        return len(self._clients)

    async def counts(self, app: StreamApp) -> PartitionCounts:
        """The counts of all streams of an app, including its own topics that exist."""
        counts: dict[str, int | None] = {}
        for index, system in enumerate(app.spec.systems):
            if system.kafka is None:
                continue
            settings = await self._settings(app, index, system.kafka)
            if isinstance(settings, SystemMisconfigured):
                return settings
            topics = topics_of_system(app, index)
            answer = await self._counts_of_system(
                system.name, system.kafka.bootstrap_servers, settings, topics
            )
            if not isinstance(answer, KnownCounts):
                return answer
            counts |= answer.counts
        return KnownCounts(counts)

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
        self, system: str, brokers: str, settings: Mapping[str, str], topics: Mapping[str, str]
    ) -> PartitionCounts:
        client = self._clients.get(
            _key(brokers, settings),
            lambda: _ClientState(KafkaTopicAdmin(brokers, settings, self._answer_seconds)),
        )
        now = self._clock()
        topic_names = set(topics.values())
        fresh = {
            name: count for name, (count, asked_at) in client.counts.items() if now - asked_at < FRESH_SECONDS
        }
        if topic_names <= fresh.keys():
            return KnownCounts({stream: fresh[topic] for stream, topic in topics.items()})
        if now < client.not_before:
            return SystemUnavailable(system, client.error, client.not_before - now)
        if client.task is None or client.task.done():
            client.task = asyncio.create_task(self._refresh(client, topic_names))
        await asyncio.wait({client.task}, timeout=ANSWER_WAIT_SECONDS)
        if not client.task.done():
            return PendingCounts()
        if client.error:
            return SystemUnavailable(system, client.error, max(0.1, client.not_before - self._clock()))
        if topic_names <= client.counts.keys():
            return KnownCounts({stream: client.counts[topic][0] for stream, topic in topics.items()})
        return PendingCounts(0.1)  # the finished lookup was for another app's topics

    async def _refresh(self, client: _ClientState, topics: set[str]) -> None:
        loop = asyncio.get_running_loop()
        try:
            counts = await loop.run_in_executor(self._threads, client.client.partitions, topics)
        except KafkaUnavailableError as error:
            client.failures += 1
            client.error = str(error)
            client.not_before = self._clock() + _BACKOFF.seconds(client.failures)
            return
        client.failures, client.error = 0, ""
        now = self._clock()
        client.counts = {
            name: entry for name, entry in client.counts.items() if now - entry[1] < FRESH_SECONDS
        }
        client.counts |= {name: (count, now) for name, count in counts.items()}

    def close(self) -> None:
        """Shut the threads down without waiting for lookups."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _key(brokers: str, settings: Mapping[str, str]) -> str:
    """A hash of brokers and credentials, which does not reveal them."""
    return blake2b(repr((brokers, sorted(settings.items()))).encode(), digest_size=16).hexdigest()
