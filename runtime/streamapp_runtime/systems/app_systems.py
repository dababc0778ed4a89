"""The systems of an app, addressed by the app's own streams: the one place that knows which topic each is."""

import os
import select
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.systems.connection import (
    FilesConnection,
    RegistryConnection,
    SinkConnection,
    SystemConnections,
    open_registry,
    open_sink,
    open_system,
)
from streamapp_runtime.systems.stream_system import (
    DEFAULT_OPTIONS,
    HasFileno,
    OffsetRange,
    StreamOptions,
    StreamSystem,
    SystemTrouble,
    UnavailableError,
    is_outage,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

if TYPE_CHECKING:
    from streamapp_runtime.registered_schema import WritableSchemas

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StreamRange:
    """Records of a stream's partition: start <= offset < end."""

    partition: Partition
    start: int
    end: int
    headers: bool = False  # they are read with the records


class Systems:
    """The open systems of an app. One object per process; used by one thread at a time.

    The home has what the app makes: its checkpoints, its changelogs and the streams between its stages. All
    transactions of a run are the home's: what is for another system goes into an outbox there, from which it
    is delivered. Each system is opened when it is first asked for.
    """

    def __init__(self, connections: SystemConnections) -> None:
        self.connections = connections
        self.silent: dict[str, str] = {}  # by system that is not to be asked now: why
        self._open: dict[str, StreamSystem] = {}
        self._schemas: dict[str, WritableSchemas] = {}

    @property
    def home(self) -> StreamSystem:
        """The system of what the app makes."""
        return self.open(self.connections.home)

    def relocated(self, connections: SystemConnections) -> "Systems":
        """The same open systems for an app of other streams; who closes one of both closes all."""
        other = Systems(connections)
        other._open, other.silent = self._open, self.silent
        return other

    def of_stream(self, stream: str) -> StreamSystem:
        """The system that a stream is in."""
        return self.open(self.connections.location(stream).system)

    def schemas(self, stream: str) -> "WritableSchemas":
        """The schemas that the records of a stream name, in the registry of its system."""
        name = self.connections.location(stream).system
        if name not in self._schemas:
            registry = self.connections.registries[name]
            if isinstance(registry, RegistryConnection):
                registry = open_registry(registry)
            self._schemas[name] = registry
        return self._schemas[name]

    def locate(self, partition: Partition) -> TopicPartition:
        """The address of a partition in the system that its stream is in."""
        return TopicPartition(self.connections.location(partition.stream).topic, partition.index)

    def at_home(self, partition: Partition) -> TopicPartition:
        """The address in the home at which a partition is written: that of its outbox, where it has one."""
        outbox = self.connections.outboxes.get(partition.stream)
        return self.locate(partition) if outbox is None else TopicPartition(outbox, partition.index)

    def home_topics(self, streams: Collection[str]) -> frozenset[str]:
        """The topics of those streams that are in the home."""
        named = self._streams_by_system(streams).get(self.connections.home, {})
        return frozenset(named.values())

    def partitions(self, stream: str) -> int | None:
        """A stream's partition count, one of a table; None when there is no such stream."""
        if self.connections.is_table(stream):
            return 1
        return self.of_stream(stream).partitions(self.connections.location(stream).topic)

    def partitions_of(self, streams: Iterable[str]) -> list[Partition]:
        """The partitions of those of these streams that exist."""
        return [
            Partition(stream, index) for stream in streams for index in range(self.partitions(stream) or 0)
        ]

    def create(self, stream: str, partitions: int, options: StreamOptions = DEFAULT_OPTIONS) -> None:
        """See `StreamSystem.create`."""
        self.of_stream(stream).create(self.connections.location(stream).topic, partitions, options)

    def grow(self, stream: str, partitions: int) -> None:
        """See `StreamSystem.grow`."""
        self.of_stream(stream).grow(self.connections.location(stream).topic, partitions)

    def identities(self, streams: Collection[str]) -> dict[str, str]:
        """The identity of each existing stream of these; tables have none."""
        identities: dict[str, str] = {}
        kept_streams = (stream for stream in streams if not self.connections.is_table(stream))
        for system, named in self._streams_by_system(kept_streams).items():
            of_topics = self.open(system).identities(set(named.values()))
            identities |= {stream: of_topics[topic] for stream, topic in named.items() if topic in of_topics}
        return identities

    def spans(self, partitions: Iterable[Partition]) -> dict[Partition, OffsetSpan]:
        """The offsets that each partition holds now, of committed records only."""
        return self._asked(partitions, lambda system, addresses: system.spans(addresses))

    def available_spans(
        self, partitions: Iterable[Partition]
    ) -> tuple[dict[Partition, OffsetSpan], dict[str, UnavailableError]]:
        """The offsets in the home and in those other systems that answer, and the outages of the rest."""
        spans: dict[Partition, OffsetSpan] = {}
        outages: dict[str, UnavailableError] = {}
        for name, addressed in self._by_system(partitions).items():
            try:
                spans |= _by_partition(self.open(name).spans(addressed.keys()), addressed)
            except UnavailableError as error:
                if name == self.connections.home or not is_outage(error):
                    raise
                outages[name] = error
        return spans, outages

    def open_transactions(self, partitions: Iterable[Partition]) -> dict[Partition, int]:
        """The partitions with writes that are neither visible nor void, and the offset of the first."""
        return self._asked(partitions, lambda system, addresses: system.open_transactions(addresses))

    def offsets_at(self, partitions: Iterable[Partition], time_ms: int) -> Mapping[Partition, int]:
        """See `StreamSystem.offsets_at`."""
        return self._asked(partitions, lambda system, addresses: system.offsets_at(addresses, time_ms))

    def epoch_ends(self, epochs: Mapping[Partition, int]) -> Mapping[Partition, int]:
        """See `StreamSystem.epoch_ends`."""
        ends: dict[Partition, int] = {}
        for name, addressed in self._by_system(epochs).items():
            of_addresses = {address: epochs[partitions[0]] for address, partitions in addressed.items()}
            known = self.open(name).epoch_ends(of_addresses)
            ends |= _by_partition(known, {address: addressed[address] for address in known})
        return ends

    def await_records(
        self, ends: Mapping[Partition, int], seconds: float, wake: HasFileno | None = None
    ) -> bool:
        """Return once one of the partitions may end further on than here, or `wake` can be read.

        Or after so many seconds. False, at once or later, where one of the systems cannot tell.
        """
        by_system = {
            self.open(name): {address: ends[partitions[0]] for address, partitions in addressed.items()}
            for name, addressed in self._by_system(ends).items()
        }
        if len(by_system) > 1:
            return _first_arrival(by_system, seconds, wake)
        return all(system.await_records(of_system, seconds, wake) for system, of_system in by_system.items())

    def read(
        self, partition: Partition, start: int, end: int, *, headers: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """See `StreamSystem.read`."""
        system = self.of_stream(partition.stream)
        return system.read(self.locate(partition), start, end, headers=headers)

    def fetch_ahead(self, ranges: Sequence[StreamRange]) -> None:
        """Say which ranges are read next, so that systems may ask for all of them at once."""
        by_system: dict[str, list[OffsetRange]] = {}
        for one in ranges:
            located = OffsetRange(self.locate(one.partition), one.start, one.end, one.headers)
            by_system.setdefault(self.connections.location(one.partition.stream).system, []).append(located)
        for name, located_ranges in by_system.items():
            self.open(name).fetch_ahead(located_ranges)

    def delete_before(self, positions: Mapping[Partition, int]) -> None:
        """Records below these positions are read by nobody any more and may go."""
        for name, addressed in self._by_system(positions).items():
            self.open(name).delete_before({at: positions[each[0]] for at, each in addressed.items()})

    def trouble(self) -> SystemTrouble | None:
        """The trouble that calls of this process have waited for lately, and still do; None where none."""
        troubles = (system.trouble() for system in tuple(self._open.values()))
        return max(filter(None, troubles), key=lambda trouble: trouble.noted, default=None)

    def throttled_seconds(self) -> Mapping[str, float]:
        """The seconds for which quotas have kept the calls of this process so far, by system."""
        return {name: system.throttled_seconds() for name, system in tuple(self._open.items())}

    def tidy(self) -> None:
        """Do maintenance of the stored records, at a time without other work."""
        self.home.tidy()

    def close(self) -> None:
        """Let go of everything."""
        while self._open:
            self._open.popitem()[1].close()

    def open(self, name: str) -> StreamSystem:
        """The system of this name, which stays open; UnavailableError at once of a silent one."""
        if name in self.silent:
            raise UnavailableError(self.silent[name])
        if name not in self._open:
            self._open[name] = open_system(self.connections.by_name[name])
        return self._open[name]

    def check_settings(self, name: str) -> None:
        """InvalidSettingsError where those of the system of this name are wrong; it is asked for nothing."""
        connection = self.connections.by_name[name]
        if isinstance(connection, SinkConnection):
            open_sink(connection).close()
        elif not isinstance(connection, FilesConnection):
            self.open(name)

    def _streams_by_system(self, streams: Iterable[str]) -> dict[str, dict[str, str]]:
        by_system: dict[str, dict[str, str]] = {}
        for stream in streams:
            location = self.connections.location(stream)
            by_system.setdefault(location.system, {})[stream] = location.topic
        return by_system

    def _by_system(self, partitions: Iterable[Partition]) -> dict[str, dict[TopicPartition, list[Partition]]]:
        """The addresses in each system, and what the app calls them: a stream may fill a table, too."""
        by_system: dict[str, dict[TopicPartition, list[Partition]]] = {}
        for partition in partitions:
            addressed = by_system.setdefault(self.connections.location(partition.stream).system, {})
            addressed.setdefault(self.locate(partition), []).append(partition)
        return by_system

    def _asked(
        self,
        partitions: Iterable[Partition],
        ask: Callable[[StreamSystem, Collection[TopicPartition]], Mapping[TopicPartition, T]],
    ) -> dict[Partition, T]:
        """The answers of all systems, by the partitions that they were asked for."""
        answers: dict[Partition, T] = {}
        for name, addressed in self._by_system(partitions).items():
            answers |= _by_partition(ask(self.open(name), addressed.keys()), addressed)
        return answers


def _by_partition(
    answers: Mapping[TopicPartition, T], addressed: Mapping[TopicPartition, list[Partition]]
) -> dict[Partition, T]:
    """The answers of a system, by what the app calls its partitions."""
    return {partition: answer for address, answer in answers.items() for partition in addressed[address]}


def _first_arrival(
    ends: Mapping[StreamSystem, Mapping[TopicPartition, int]], seconds: float, wake: HasFileno | None
) -> bool:
    """Wait for records of several systems at once: the first that answers ends the wait of the others."""
    answered, answers = os.eventfd(0), list[bool]()

    def wait(system: StreamSystem, of_system: Mapping[TopicPartition, int], ended: HasFileno) -> None:
        try:
            answers.append(system.await_records(of_system, seconds, ended))
        finally:
            os.eventfd_write(answered, 1)

    with closing(select.epoll()) as ended:
        ended.register(answered, select.EPOLLIN)
        if wake is not None:
            ended.register(wake.fileno(), select.EPOLLIN)
        threads = [Thread(target=wait, args=(*item, ended), daemon=True) for item in ends.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    os.close(answered)
    return len(answers) == len(threads) and all(answers)
