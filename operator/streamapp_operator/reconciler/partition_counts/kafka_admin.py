"""Asks one Kafka cluster how many partitions topics have. Calls block, so that they are made on threads."""

import logging
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, TopicDescription

from streamapp.spec.resource.kafka_settings import TOPICS

ANSWER_SECONDS = 10.0
_SILENT = logging.getLogger("streamapp_operator.partition_counts.kafka")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
_ABSENT = {"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"}
_ONLY_WORK = {"batch.size", "compression.level", "compression.type", "fetch.max.bytes", "linger.ms"}
_ONLY_WORK |= {"max.partition.fetch.bytes", "transaction.timeout.ms"}


class KafkaUnavailableError(Exception):
    """The cluster did not answer, or would not."""


@dataclass(slots=True)
class KafkaTopicAdmin:
    """One client, for all apps that come with the same brokers and credentials."""

    bootstrap_servers: str
    settings: Mapping[str, str] = field(repr=False)
    answer_seconds: float = ANSWER_SECONDS
    _admin: AdminClient | None = field(default=None, repr=False)
    _met: str = ""  # what befell its connections last

    def partitions(self, topics: Iterable[str]) -> dict[str, int | None]:
        """The count of each topic, None for one that does not exist."""
        asked = sorted(set(topics))
        if not asked:
            return {}
        answers = self._client().describe_topics(TopicCollection(asked), request_timeout=self.answer_seconds)
        return {name: self._count(name, future) for name, future in answers.items()}

    def _count(self, name: str, future: "Future[TopicDescription]") -> int | None:
        try:
            return len(future.result(self.answer_seconds * 2).partitions)
        except KafkaException as error:
            found = error.args[0]
            if found.name() in _ABSENT:
                return None
            met = f" ({self._met})" * bool(self._met)
            raise KafkaUnavailableError(f'looking at topic "{name}": {found.str()}{met}') from None
        except TimeoutError:
            raise KafkaUnavailableError(f'looking at topic "{name}": no answer{self._met}') from None

    def _client(self) -> AdminClient:
        if self._admin is None:
            mine = {k: v for k, v in self.settings.items() if k not in TOPICS | _ONLY_WORK}
            setup: dict[str, Any] = {
                **mine,
                "bootstrap.servers": self.bootstrap_servers,
                "allow.auto.create.topics": False,
                "reconnect.backoff.max.ms": 5_000,
                "log_level": 0,
                "logger": _SILENT,
                "error_cb": self._note,
            }
            try:
                self._admin = AdminClient(setup)
            except (KafkaException, ValueError, TypeError) as error:
                raise KafkaUnavailableError(f"the client's settings do not fit: {error}") from None
        return self._admin

    def _note(self, error: KafkaError) -> None:
        self._met = error.str()
