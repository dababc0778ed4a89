"""Looks up partition counts in one Kafka cluster, within bounds, in a process of its own."""

import logging
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from socket import getaddrinfo
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, TopicDescription

from streamapp.spec.redaction import without_values
from streamapp.spec.resource.kafka_settings import NOT_FOR_BROKERS
from streamapp_operator.reconciler.partition_counts.lookup_messages import MOST_CLUSTER_BYTES, MOST_THREADS

CHECK_SECONDS: Final = 0.05
"""How often a look-up's threads are counted."""
CONNECT_SECONDS: Final = 3.0
"""Seconds until a cluster to none of whose brokers there is a connection is unavailable."""
PARTITIONS_AT_ONCE: Final = 10_000
"""The client describes each with more than a kilobyte."""
_THREADS: Final = Path("/proc/self/task")
_SILENT = logging.getLogger(f"{__name__}.client")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
_ABSENT = {"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"}
_DATA_SETTINGS = {"batch.size", "compression.level", "compression.type", "fetch.max.bytes", "linger.ms"}
_DATA_SETTINGS |= {"max.partition.fetch.bytes", "transaction.timeout.ms"}
_DATA_SETTINGS |= {"message.max.bytes", "receive.message.max.bytes"}
_TOO_MANY_THREADS: Final = f"for its cluster's brokers a client takes more than {MOST_THREADS} threads"
_TOO_LARGE: Final = f"an answer about topics is larger than {MOST_CLUSTER_BYTES >> 20} MiB, or malformed"


class KafkaUnavailableError(Exception):
    """The Kafka cluster did not answer, or refused."""


class LookupExceededError(Exception):
    """The Kafka cluster makes its client take more than a look-up may."""


@dataclass(slots=True)
class KafkaTopicAdmin:
    """One look-up, with an admin client of its own."""

    bootstrap_servers: str
    settings: Mapping[str, str] = field(repr=False)
    answer_seconds: float
    _last_error: str = ""  # the last error of its connections
    _is_disconnected: bool = False  # from all brokers

    def partitions(self, topics: Iterable[str]) -> dict[str, int | None]:
        """The count of each topic, None for one that does not exist."""
        names, counts, number = sorted(set(topics)), dict[str, int | None](), 1
        if not names:
            return {}
        self._resolve()
        client, begun = self._client(), monotonic()
        while asked_names := names[len(counts) : len(counts) + number]:
            answers = client.describe_topics(
                TopicCollection(asked_names), request_timeout=self.answer_seconds
            )
            self._await(client, list(answers.values()), begun)
            counts |= {name: self._count(name, future) for name, future in answers.items()}
            largest = max(count or 1 for count in counts.values())
            number = max(1, min(number * 2, PARTITIONS_AT_ONCE // largest))
        return counts

    def _resolve(self) -> None:
        """Refuse at once what the client would ask again and again: names that nothing here resolves."""
        for address in self.bootstrap_servers.split(","):
            with suppress(OSError, ValueError):  # what is no address the client has to say
                getaddrinfo(urlsplit(f"//{address.strip().rpartition('//')[2]}").hostname, None)
                return
        raise KafkaUnavailableError(f"no name of {self.bootstrap_servers} can be resolved here")

    def _await(self, client: AdminClient, answers: list["Future[TopicDescription]"], begun: float) -> None:
        while wait(answers, timeout=CHECK_SECONDS).not_done and monotonic() < begun + self.answer_seconds * 2:
            client.poll(0)  # errors of its connections are recorded then
            if self._is_disconnected and monotonic() > begun + CONNECT_SECONDS:
                raise KafkaUnavailableError(f"no broker can be reached; the last try: {self._last_error}")
            if _THREADS.is_dir() and sum(1 for _ in _THREADS.iterdir()) > MOST_THREADS:
                raise LookupExceededError(_TOO_MANY_THREADS)

    def _count(self, name: str, future: "Future[TopicDescription]") -> int | None:
        try:
            return len(future.result(0).partitions)
        except KafkaException as error:
            kafka_error = error.args[0]
            if kafka_error is None:  # the client had no memory for its answer
                raise MemoryError from None
            if kafka_error.name() in _ABSENT:
                return None
            if kafka_error.name() == "_BAD_MSG":
                raise LookupExceededError(_TOO_LARGE) from None
            answer = self._without_values(kafka_error.str())
            cause = f" ({self._last_error})" * bool(self._last_error)
            raise KafkaUnavailableError(f'looking at topic "{name}": {answer}{cause}') from None
        except TimeoutError:
            raise KafkaUnavailableError(f'looking at topic "{name}": no answer{self._last_error}') from None

    def _client(self) -> AdminClient:
        client_settings = {
            k: v for k, v in self.settings.items() if k not in NOT_FOR_BROKERS | _DATA_SETTINGS
        }
        configuration: dict[str, Any] = {
            **client_settings,
            "bootstrap.servers": self.bootstrap_servers,
            "allow.auto.create.topics": False,
            "receive.message.max.bytes": MOST_CLUSTER_BYTES,
            "reconnect.backoff.max.ms": 5_000,
            "log_level": 0,
            "logger": _SILENT,
            "error_cb": self._record_error,
        }
        try:
            return AdminClient(configuration)
        except (KafkaException, ValueError, TypeError) as error:
            message = f"the client's settings do not fit: {self._without_values(str(error))}"
            raise KafkaUnavailableError(message) from None

    def _record_error(self, error: KafkaError) -> None:
        if error.name() == "_ALL_BROKERS_DOWN":
            self._is_disconnected = True
        else:
            self._last_error = self._without_values(error.str())

    def _without_values(self, text: str) -> str:
        """The text without the values of settings, which may be a Secret's."""
        return without_values(text, self.settings.values())
