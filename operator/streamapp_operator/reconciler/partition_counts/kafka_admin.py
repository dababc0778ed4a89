"""Looks up partition counts in one Kafka cluster. Calls block, so callers use threads."""

import logging
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from socket import getaddrinfo
from typing import Any
from urllib.parse import urlsplit

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, TopicDescription

from streamapp.spec.redaction import without_values
from streamapp.spec.resource.kafka_settings import TOPICS

ANSWER_SECONDS = 10.0
_SILENT = logging.getLogger(f"{__name__}.client")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
_ABSENT = {"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"}
_DATA_SETTINGS = {"batch.size", "compression.level", "compression.type", "fetch.max.bytes", "linger.ms"}
_DATA_SETTINGS |= {"max.partition.fetch.bytes", "transaction.timeout.ms"}


class KafkaUnavailableError(Exception):
    """The Kafka cluster did not answer, or refused."""


@dataclass(slots=True)
class KafkaTopicAdmin:
    """One admin client, shared by all apps with the same brokers and credentials."""

    bootstrap_servers: str
    settings: Mapping[str, str] = field(repr=False)
    answer_seconds: float = ANSWER_SECONDS
    _admin: AdminClient | None = field(default=None, repr=False)
    _last_error: str = ""  # the last error of its connections

    def partitions(self, topics: Iterable[str]) -> dict[str, int | None]:
        """The count of each topic, None for one that does not exist."""
        topic_names = sorted(set(topics))
        if not topic_names:
            return {}
        self._resolve()
        answers = self._client().describe_topics(
            TopicCollection(topic_names), request_timeout=self.answer_seconds
        )
        return {name: self._count(name, future) for name, future in answers.items()}

    def _resolve(self) -> None:
        """Refuse at once what the client would ask again and again: names that nothing here resolves."""
        for address in self.bootstrap_servers.split(","):
            with suppress(OSError, ValueError):  # what is no address the client has to say
                getaddrinfo(urlsplit(f"//{address.strip().rpartition('//')[2]}").hostname, None)
                return
        raise KafkaUnavailableError(f"no name of {self.bootstrap_servers} can be resolved here")

    def _count(self, name: str, future: "Future[TopicDescription]") -> int | None:
        try:
            return len(future.result(self.answer_seconds * 2).partitions)
        except KafkaException as error:
            kafka_error = error.args[0]
            if kafka_error.name() in _ABSENT:
                return None
            answer = self._without_values(kafka_error.str())
            cause = f" ({self._last_error})" * bool(self._last_error)
            raise KafkaUnavailableError(f'looking at topic "{name}": {answer}{cause}') from None
        except TimeoutError:
            raise KafkaUnavailableError(f'looking at topic "{name}": no answer{self._last_error}') from None

    def _client(self) -> AdminClient:
        if self._admin is None:
            client_settings = {k: v for k, v in self.settings.items() if k not in TOPICS | _DATA_SETTINGS}
            configuration: dict[str, Any] = {
                **client_settings,
                "bootstrap.servers": self.bootstrap_servers,
                "allow.auto.create.topics": False,
                "reconnect.backoff.max.ms": 5_000,
                "log_level": 0,
                "logger": _SILENT,
                "error_cb": self._record_error,
            }
            try:
                self._admin = AdminClient(configuration)
            except (KafkaException, ValueError, TypeError) as error:
                message = f"the client's settings do not fit: {self._without_values(str(error))}"
                raise KafkaUnavailableError(message) from None
        return self._admin

    def _record_error(self, error: KafkaError) -> None:
        self._last_error = self._without_values(error.str())

    def _without_values(self, text: str) -> str:
        """The text without the values of settings, which may be a Secret's."""
        return without_values(text, self.settings.values())
