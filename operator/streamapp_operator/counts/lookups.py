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

from streamapp.author.streams import topics_of_system
from streamapp.spec.app import StreamApp
from streamapp.spec.kafka_settings import refused_settings
from streamapp.spec.systems import Kafka
from streamapp_operator.cluster.cluster import Cluster
from streamapp_operator.cluster.kinds import SECRET
from streamapp_operator.counts.answers import Counts, Known, Misused, Pending, Unavailable
from streamapp_operator.counts.kafka_client import ANSWER_SECONDS, KafkaClient, NoAnswerError
from streamapp_operator.facts.recent import Recent

PATIENCE = 0.8
"""Seconds that a reconcile waits for an answer."""
FRESH_SECONDS = 10.0
FIRST_WAIT, LONGEST_WAIT = 2.0, 120.0
THREADS = 8


@dataclass(slots=True)
class _Asked:
    """What is known of one client's topics."""

    client: KafkaClient
    counts: dict[str, tuple[int | None, float]] = field(default_factory=dict)  # and when it was so
    task: "asyncio.Task[None] | None" = None
    failures: int = 0
    trouble: str = ""
    not_before: float = 0.0


class Lookups:
    """Asks, and remembers the answers for a moment."""

    def __init__(
        self, cluster: Cluster, clock: Callable[[], float], answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._answer_seconds = answer_seconds
        self._asked: Recent[_Asked] = Recent(256)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="counts")

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return len(self._asked)

    async def counts(self, app: StreamApp) -> Counts:
        """The counts of all streams of an app, of those too that it makes and that are there."""
        found: dict[str, int | None] = {}
        for index, system in enumerate(app.spec.systems):
            if system.kafka is None:
                continue
            settings = await self._settings(app, index, system.kafka)
            if isinstance(settings, Misused):
                return settings
            topics = topics_of_system(app, index)
            answer = await self._of(system.name, system.kafka.bootstrap_servers, settings, topics)
            if not isinstance(answer, Known):
                return answer
            found |= answer.counts
        return Known(found)

    async def _settings(self, app: StreamApp, index: int, kafka: Kafka) -> dict[str, str] | Misused:
        """What the resource says, and what its Secret says; the Secret of the app's own namespace alone."""
        if kafka.config_secret is None:
            return dict(kafka.config)
        path = f"spec.systems[{index}].kafka.configSecret"
        name = kafka.config_secret.name
        secret = await self._cluster.read(SECRET, app.metadata.namespace, name)
        if secret is None:
            return Misused(path, f'there is no Secret "{name}" in namespace {app.metadata.namespace}', 15.0)
        try:
            said = {k: b64decode(v).decode().rstrip("\n") for k, v in (secret.get("data") or {}).items()}
        except ValueError:
            return Misused(path, f'not all of Secret "{name}" is text')
        if refused := refused_settings(said, secret=True):
            told = "; ".join(f"{key}: {why}" for key, why in refused.items())
            return Misused(path, f'Secret "{name}": {told}')
        return {**kafka.config, **said}

    async def _of(
        self, system: str, brokers: str, settings: Mapping[str, str], topics: Mapping[str, str]
    ) -> Counts:
        asked = self._asked.get(
            _key(brokers, settings), lambda: _Asked(KafkaClient(brokers, settings, self._answer_seconds))
        )
        now = self._clock()
        wanted = set(topics.values())
        known = {name: count for name, (count, at) in asked.counts.items() if now - at < FRESH_SECONDS}
        if wanted <= known.keys():
            return Known({stream: known[topic] for stream, topic in topics.items()})
        if now < asked.not_before:
            return Unavailable(system, asked.trouble, asked.not_before - now)
        if asked.task is None or asked.task.done():
            asked.task = asyncio.create_task(self._ask(asked, wanted))
        await asyncio.wait({asked.task}, timeout=PATIENCE)
        if not asked.task.done():
            return Pending()
        if asked.trouble:
            return Unavailable(system, asked.trouble, max(0.1, asked.not_before - self._clock()))
        if wanted <= asked.counts.keys():
            return Known({stream: asked.counts[topic][0] for stream, topic in topics.items()})
        return Pending(0.1)  # the answer was to another app's question

    async def _ask(self, asked: _Asked, topics: set[str]) -> None:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, asked.client.partitions, topics)
        except NoAnswerError as error:
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
