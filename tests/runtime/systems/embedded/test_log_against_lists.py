"""The log behaves like plain lists under any mix of writes, growth, truncation, compaction and reopening."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.embedded.maintenance import MaintenanceRules
from streamapp_runtime.systems.stream_system import FencedError, StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import Record, batch, rows

KEPT = "views"
COMPACTED = "users"
keys = st.sampled_from([b"", b"ann", b"bob", b"cid", b"x" * 600])
payloads = st.one_of(st.none(), st.binary(max_size=40), st.integers(1, 20_000).map(lambda size: b"v" * size))
times = st.one_of(st.none(), st.integers(0, 10**13))
records = st.lists(st.tuples(keys, payloads, times), max_size=30)


class LogModel(RuleBasedStateMachine):
    """Beside the log stand the lists of records that it should hold, by stream, partition and offset."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = 1_000
        self.system = self.opened()
        self.counts = {KEPT: 1, COMPACTED: 1}
        self.held: dict[TopicPartition, dict[int, Record]] = {}
        self.ends: dict[TopicPartition, int] = {}
        self.fence = 0

    def opened(self) -> EmbeddedSystem:
        upkeep = MaintenanceRules(compact_from_bytes=2_000, compact_at_commit_bytes=20_000, tombstones_ms=100)
        return EmbeddedSystem(Path(self.folder.name), upkeep=upkeep, clock=lambda: self.now)

    def teardown(self) -> None:
        self.system.close()
        self.folder.cleanup()

    @initialize()
    def make_streams(self) -> None:
        self.system.create(KEPT, 1)
        self.system.create(COMPACTED, 1, StreamOptions(compacted=True))

    def partition(self, stream: str, index: int) -> TopicPartition:
        return TopicPartition(stream, index % self.counts[stream])

    def take(self, partition: TopicPartition, taken: list[Record]) -> None:
        end = self.ends.get(partition, 0)
        self.held.setdefault(partition, {}).update({end + place: one for place, one in enumerate(taken)})
        self.ends[partition] = end + len(taken)

    @rule(
        appended=st.lists(
            st.tuples(st.sampled_from([KEPT, COMPACTED]), st.integers(0, 3), records), max_size=4
        ),
        put=st.dictionaries(keys, st.one_of(st.none(), st.binary(max_size=9)), max_size=3),
        abort=st.booleans(),
        incarnation=st.integers(0, 3),
    )
    def write(
        self,
        appended: list[tuple[str, int, list[Record]]],
        put: Mapping[bytes, bytes | None],
        abort: bool,
        incarnation: int,
    ) -> None:
        transaction = self.system.begin("owner", incarnation)
        for stream, index, given in appended:
            transaction.append(self.partition(stream, index), batch(given))
        for key, value in put.items():
            transaction.put(COMPACTED, key, value)
        if abort:
            transaction.abort()
            return
        try:
            transaction.commit()
        except FencedError:
            assert incarnation < self.fence
            return
        assert incarnation >= self.fence
        for stream, index, given in appended:
            self.take(self.partition(stream, index), given)
        self.take(TopicPartition(COMPACTED, 0), [(key, value, self.now) for key, value in put.items()])

    @rule(stream=st.sampled_from([KEPT, COMPACTED]), index=st.integers(0, 3), count=st.integers(60, 140))
    def write_many_small_commits(self, stream: str, index: int, count: int) -> None:
        partition = self.partition(stream, index)
        for number in range(count):
            one = (b"%d" % (number % 7), b"%d" % number, None)
            transaction = self.system.begin("somebody", 0)
            transaction.append(partition, batch([one]))
            transaction.commit()
            self.take(partition, [one])

    @rule(incarnation=st.integers(0, 3))
    def raise_fence(self, incarnation: int) -> None:
        self.system.fence("owner", incarnation)
        self.fence = max(self.fence, incarnation)

    @rule(stream=st.sampled_from([KEPT, COMPACTED]), more=st.integers(0, 2))
    def grow(self, stream: str, more: int) -> None:
        self.counts[stream] = min(4, self.counts[stream] + more)
        self.system.grow(stream, self.counts[stream])

    @rule(index=st.integers(0, 3), part=st.floats(0, 1))
    def truncate(self, index: int, part: float) -> None:
        partition = self.partition(KEPT, index)
        position = int(self.ends.get(partition, 0) * part)
        self.system.delete_before({partition: position})
        held = self.held.setdefault(partition, {})
        self.held[partition] = {offset: one for offset, one in held.items() if offset >= position}

    @rule(passed=st.integers(0, 80))
    def let_time_pass(self, passed: int) -> None:
        self.now += passed

    @rule()
    def tidy(self) -> None:
        self.system.tidy()

    @rule()
    def reopen(self) -> None:
        self.system.close()
        self.system = self.opened()

    @invariant()
    def the_log_holds_what_the_lists_hold(self) -> None:
        for stream, count in self.counts.items():
            if self.system.partitions(stream) is None:
                return
            for index in range(count):
                self.compare(TopicPartition(stream, index))
        values = newest(self.held.get(TopicPartition(COMPACTED, 0), {}))
        assert self.system.latest(COMPACTED) == {
            key: one for key, (_, one) in values.items() if one is not None
        }

    def compare(self, partition: TopicPartition) -> None:
        held = self.held.get(partition, {})
        found = {
            row["offset"]: (row["key"], row["value"], row["timestamp"])
            for row in rows(self.system, partition)
        }
        assert self.system.spans([partition])[partition].end == self.ends.get(partition, 0)
        assert list(found) == sorted(found)
        assert found.items() <= held.items()
        if partition.topic == KEPT:
            assert found == held
        for key, (offset, value) in newest(held).items():
            assert offset in found or (value is None and newest(found).get(key) is None)


def newest(held: Mapping[int, Record]) -> dict[bytes, tuple[int, bytes | None]]:
    """The newest offset and value of each key."""
    return {key: (offset, value) for offset, (key, value, _) in sorted(held.items()) if key is not None}


# A log whose file lacks pages is looked through by a process of its own when it is opened again.
TestLogModel = pytest.mark.smoke(pytest.mark.usefixtures("process")(LogModel.TestCase))
TestLogModel.settings = settings(stateful_step_count=25, deadline=None)
