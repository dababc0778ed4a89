"""Partition counts of live systems: one client for all apps that share brokers and credentials.

A cluster that does not answer costs nobody else their turn: questions run on threads of their own, an app
waits a moment for the answer and otherwise comes again.
"""

import asyncio
from base64 import b64decode
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import blake2b

from streamapp.author.app_streams import topics_of_system
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.kafka_settings import refused_settings
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
FIRST_WAIT, LONGEST_WAIT = 2.0, 120.0
THREADS = 8


@dataclass(slots=True)
class _Asked:
    """What is known of one client's topics."""

    client: KafkaTopicAdmin
    counts: dict[str, tuple[int | None, float]] = field(default_factory=dict)  # and when it was so
    task: "asyncio.Task[None] | None" = None
    failures: int = 0
    trouble: str = ""
    not_before: float = 0.0


class LivePartitionLookup:
    """Asks, and remembers the answers for a moment."""

    def __init__(
        self, cluster: ClusterClient, clock: Callable[[], float], answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._answer_seconds = answer_seconds
        self._asked: RecentResults[_Asked] = RecentResults(256)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="counts")

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return len(self._asked)

    async def counts(self, app: StreamApp) -> PartitionCounts:
        """The counts of all streams of an app, of those too that it makes and that are there."""
        found: dict[str, int | None] = {}
        for index, system in enumerate(app.spec.systems):
            if system.kafka is None:
                continue
            settings = await self._settings(app, index, system.kafka)
            if isinstance(settings, SystemMisconfigured):
                return settings
            topics = topics_of_system(app, index)
            answer = await self._of(system.name, system.kafka.bootstrap_servers, settings, topics)
            if not isinstance(answer, KnownCounts):
                return answer
            found |= answer.counts
        return KnownCounts(found)

    async def _settings(
        self, app: StreamApp, index: int, kafka: Kafka
    ) -> dict[str, str] | SystemMisconfigured:
        """What the resource says, and what its Secret says; the Secret of the app's own namespace alone."""
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
            said = {k: b64decode(v).decode().rstrip("\n") for k, v in (secret.get("data") or {}).items()}
        except ValueError:
            return SystemMisconfigured(path, f'not all of Secret "{name}" is text')
        if refused := refused_settings(said, secret=True):
            told = "; ".join(f"{key}: {why}" for key, why in refused.items())
            return SystemMisconfigured(path, f'Secret "{name}": {told}')
        return {**kafka.config, **said}

    async def _of(
        self, system: str, brokers: str, settings: Mapping[str, str], topics: Mapping[str, str]
    ) -> PartitionCounts:
        asked = self._asked.get(
            _key(brokers, settings), lambda: _Asked(KafkaTopicAdmin(brokers, settings, self._answer_seconds))
        )
        now = self._clock()
        wanted = set(topics.values())
        known = {name: count for name, (count, at) in asked.counts.items() if now - at < FRESH_SECONDS}
        if wanted <= known.keys():
            return KnownCounts({stream: known[topic] for stream, topic in topics.items()})
        if now < asked.not_before:
            return SystemUnavailable(system, asked.trouble, asked.not_before - now)
        if asked.task is None or asked.task.done():
            asked.task = asyncio.create_task(self._ask(asked, wanted))
        await asyncio.wait({asked.task}, timeout=ANSWER_WAIT_SECONDS)
        if not asked.task.done():
            return PendingCounts()
        if asked.trouble:
            return SystemUnavailable(system, asked.trouble, max(0.1, asked.not_before - self._clock()))
        if wanted <= asked.counts.keys():
            return KnownCounts({stream: asked.counts[topic][0] for stream, topic in topics.items()})
        return PendingCounts(0.1)  # the answer was to another app's question

    async def _ask(self, asked: _Asked, topics: set[str]) -> None:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, asked.client.partitions, topics)
        except KafkaUnavailableError as error:
            asked.failures += 1
            asked.trouble = str(error)
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(asked.failures - 1, 20))
            asked.not_before = self._clock() + wait
            return
        asked.failures, asked.trouble = 0, ""
        now = self._clock()
        asked.counts = {name: one for name, one in asked.counts.items() if now - one[1] < FRESH_SECONDS}
        asked.counts |= {name: (count, now) for name, count in found.items()}

    def close(self) -> None:
        """Wait for nobody."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _key(brokers: str, settings: Mapping[str, str]) -> str:
    """The same for the same brokers and credentials, and saying nothing of them."""
    return blake2b(repr((brokers, sorted(settings.items()))).encode(), digest_size=16).hexdigest()
