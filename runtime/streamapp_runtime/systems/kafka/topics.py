"""Topics: which there are, making them and having them grow; what is there is checked, never changed."""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import ConfigResource, NewPartitions, NewTopic, ResourceType

from streamapp_runtime.systems.kafka.client_errors import kafka_error
from streamapp_runtime.systems.kafka.cluster_admin import ANSWER_SECONDS, ClusterAdmin
from streamapp_runtime.systems.stream_system import (
    StreamOptions,
    UnavailableError,
    UnfitStreamError,
    UnknownStreamError,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

_LOG: Final = logging.getLogger(__name__)
_POLL_SECONDS = 0.02
_METADATA_SECONDS = 5.0
"""How long a broker may lack what another one has already said of a topic."""
COMPACTION: Final[Mapping[str, str]] = {
    "cleanup.policy": "compact",
    "segment.ms": "120000",
    "segment.bytes": str(50 * 1024 * 1024),
    "min.cleanable.dirty.ratio": "0.3",
}
"""How topics are compacted that a restore reads.

Kafka never compacts the segment that is written to, and writes to one for a week by default: a store of 40
keys would read a week of their values again.
"""
_LONG_SEGMENT_MS: Final = 86_400_000
"""A topic whose segments are written to for so long is reported when an app starts."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is now; another one of its name, made later, has another identity."""

    name: str
    partitions: int
    identity: str


@dataclass(slots=True)
class Topics:
    """The topics of a cluster, for one process."""

    cluster: ClusterAdmin
    replication: int = -1  # of new topics; the broker's own number
    _counts: dict[str, int] = field(default_factory=dict)  # as last seen: topics seldom go, and never shrink

    def all(self) -> Mapping[str, int]:
        """Every topic that is not the cluster's own, with its partition count."""
        return {name: count for name, count in self.cluster.topics().items() if not name.startswith("__")}

    def find(self, names: Iterable[str]) -> Mapping[str, Topic]:
        """The topics of these names that there are.

        Each question may go to another broker, and brokers hear of a topic one after the other. A topic
        that this process has seen is asked for again while the answer lacks it, or some of its partitions.
        """
        requested_names = list(names)
        if not requested_names:
            return {}
        ends = time.monotonic() + _METADATA_SECONDS
        while True:
            topics = self._described(requested_names)
            if time.monotonic() > ends or not any(self._lacks(topics, name) for name in requested_names):
                break
            time.sleep(_POLL_SECONDS)
        for name in requested_names:
            if name in topics:
                self._counts[name] = topics[name].partitions
            else:
                self._counts.pop(name, None)
        return topics

    def existing(self, name: str) -> Topic:
        """The topic of this name; UnknownStreamError where there is none."""
        topic = self.find([name]).get(name)
        if topic is None:
            raise UnknownStreamError(f'no topic named "{name}"')
        return topic

    def _described(self, names: list[str]) -> Mapping[str, Topic]:
        """The description of these topics by one broker, as of now."""
        answers = self.cluster.asked(
            lambda admin, seconds: admin.describe_topics(TopicCollection(names), request_timeout=seconds)
        )
        topics = {}
        for name, future in answers.items():
            try:
                topic = self.cluster.answer(future, f'looking at topic "{name}"')
            except UnknownStreamError:
                continue
            topics[name] = Topic(name, len(topic.partitions), str(topic.topic_id))
        return topics

    def _lacks(self, topics: Mapping[str, Topic], name: str) -> bool:
        """True if the answer of a broker lacks partitions that another one has told of."""
        topic = topics.get(name)
        return (0 if topic is None else topic.partitions) < self._counts.get(name, 0)

    def check(self, partition: TopicPartition) -> None:
        """UnknownStreamError where there is no such partition."""
        if partition.index < self._counts.get(partition.topic, 0):
            return
        topic = self.existing(partition.topic)
        if partition.index >= topic.partitions:
            raise UnknownStreamError(f"there is no {partition}: the topic has {topic.partitions} partitions")

    def look_again(self, partitions: Iterable[TopicPartition]) -> None:
        """UnknownStreamError where one of these is not there any more."""
        partition_list = list(partitions)
        self.find({partition.topic for partition in partition_list})
        for partition in partition_list:
            self.check(partition)

    def create(self, name: str, partitions: int, options: StreamOptions) -> None:
        """Make a topic; UnfitStreamError where there is one of that name that is not the same."""
        config = dict(COMPACTION) if options.compacted else {"cleanup.policy": "delete"}
        if options.retention_ms is not None:
            config["retention.ms"] = str(options.retention_ms)
        elif options.engine_owned:
            config |= {"retention.ms": "-1", "retention.bytes": "-1"}
        new = NewTopic(name, num_partitions=partitions, replication_factor=self.replication, config=config)
        try:
            self.cluster.result(self.cluster.admin.create_topics([new], request_timeout=ANSWER_SECONDS)[name])
        except KafkaException as error:
            if kafka_error(error).code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise self.cluster.failure(error, f'making topic "{name}"') from None
            self._compare(name, partitions, options)
        self._await(name, partitions)

    def grow(self, name: str, partitions: int) -> None:
        """Add partitions; fewer than there are is an UnfitStreamError."""
        topic = self.existing(name)
        if partitions < topic.partitions:
            raise UnfitStreamError(f'topic "{name}" has {topic.partitions} partitions, and none can be taken')
        if partitions > topic.partitions:
            more = self.cluster.admin.create_partitions([NewPartitions(name, partitions)])[name]
            self.cluster.answer(more, f'adding partitions to topic "{name}"')
            self._await(name, partitions)

    def options(self, names: Iterable[str]) -> Mapping[str, StreamOptions]:
        """The options by which these topics keep their records."""
        options_by_topic = {}
        for name, settings in self._settings(names).items():
            retention_ms = int(settings["retention.ms"])
            compacted = settings["cleanup.policy"] == "compact"
            options_by_topic[name] = StreamOptions(
                compacted, None if compacted or retention_ms < 0 else retention_ms
            )
        return options_by_topic

    def _settings(self, names: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
        """The settings of these topics; a broker that has not heard of one yet is asked again."""
        resources = {name: ConfigResource(ResourceType.TOPIC, name) for name in names}
        if not resources:
            return {}
        ends = time.monotonic() + _METADATA_SECONDS
        while True:
            descriptions = self.cluster.admin.describe_configs(list(resources.values()))
            try:
                entries = {
                    name: self.cluster.answer(descriptions[resource], f'looking at topic "{name}"')
                    for name, resource in resources.items()
                }
            except UnknownStreamError:
                if time.monotonic() > ends:
                    raise
                time.sleep(_POLL_SECONDS)
            else:
                return {
                    name: {key: entry.value or "" for key, entry in each.items()}
                    for name, each in entries.items()
                }

    def _compare(self, name: str, partitions: int, options: StreamOptions) -> None:
        topic = self.find([name]).get(name)
        if topic is not None and topic.partitions != partitions:
            raise UnfitStreamError(
                f'topic "{name}" has {topic.partitions} partitions, and {partitions} are needed; '
                "delete the topic, or give the app another applicationId"
            )
        settings = self._settings([name])[name]
        policy = settings["cleanup.policy"]
        required_policy = "compact" if options.compacted else "delete"
        if (policy == "compact") != options.compacted:
            raise UnfitStreamError(
                f'topic "{name}" has cleanup.policy={policy}, and {required_policy} is needed: '
                f"set it with kafka-configs --alter --add-config cleanup.policy={required_policy}"
            )
        if options.compacted and int(settings["segment.ms"]) >= _LONG_SEGMENT_MS:
            _LOG.warning(
                'topic "%s" has segment.ms=%s: nothing younger is compacted, so a restore reads all of it. '
                "Set it with kafka-configs --alter --entity-type topics --entity-name %s --add-config %s",
                name,
                settings["segment.ms"],
                name,
                ",".join(f"{key}={value}" for key, value in COMPACTION.items() if key != "cleanup.policy"),
            )

    def _await(self, name: str, partitions: int) -> None:
        """Wait until the cluster has heard of what its controller made."""
        ends = time.monotonic() + ANSWER_SECONDS
        while True:
            topic = self.find([name]).get(name)
            if topic is not None and topic.partitions >= partitions:
                return
            if time.monotonic() > ends:
                raise UnavailableError(f'topic "{name}" was made, and the cluster does not show it')
            time.sleep(_POLL_SECONDS)
