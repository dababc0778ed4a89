"""The log lets go of what is superseded, deleted or too old, and does not fall into small pieces."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp.tasks.partition import OffsetSpan
from streamapp_runtime.systems.embedded.block_reads import blocks_from
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.embedded.lmdb_environment import shared_environment
from streamapp_runtime.systems.embedded.maintenance import MaintenanceRules
from streamapp_runtime.systems.stream_system import StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import batch, keyed, rows, texts, values, write
from tests.harness.kafka.record_contents import with_headers

HOUR = 3_600_000
USERS = TopicPartition("users", 0)
VIEWS = TopicPartition("views", 0)


class Clock:
    now = 100 * HOUR

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def system(tmp_path: Path, clock: Clock) -> Iterator[EmbeddedSystem]:
    upkeep = MaintenanceRules(compact_from_bytes=0, compact_at_commit_bytes=0, tombstones_ms=HOUR)
    system = EmbeddedSystem(tmp_path, upkeep=upkeep, clock=clock)
    system.create("users", 1, StreamOptions(compacted=True))
    yield system
    system.close()


def block_count(folder: Path, stream: int) -> int:
    environment = shared_environment(folder, False, 1 << 40)
    with environment.reading() as txn:
        found = len(list(blocks_from(txn, stream, 0)))
    environment.leave()
    return found


def test_compaction_keeps_the_newest_record_of_each_key_at_its_offset(system: EmbeddedSystem) -> None:
    write(system, USERS, keyed(ann="1", bob="1"))
    write(system, USERS, keyed(ann="2", cid="1"))
    system.tidy()
    found = [(row["offset"], row["key"], row["value"]) for row in rows(system, USERS)]
    assert found == [(1, b"bob", b"1"), (2, b"ann", b"2"), (3, b"cid", b"1")]
    assert system.spans([USERS]) == {USERS: OffsetSpan(0, 4)}
    assert write(system, USERS, keyed(ann="3")) == 5


def test_compaction_keeps_headers_beside_records_that_have_none(system: EmbeddedSystem) -> None:
    write(system, USERS, with_headers(keyed(ann="1", bob="1"), [[("a", b"1")], [("b", None)]]))
    write(system, USERS, keyed(ann="2", cid="1"))
    system.tidy()
    (part,) = system.read(USERS, 0, 4, headers=True)
    assert [(row["key"], row["headers"]) for row in part.to_pylist()] == [
        (b"bob", [{"name": "b", "value": None}]),
        (b"ann", []),
        (b"cid", []),
    ]
    assert [row["value"] for row in rows(system, USERS)] == [b"1", b"2", b"1"]


def test_a_tombstone_hides_the_key_at_once_and_goes_later(system: EmbeddedSystem, clock: Clock) -> None:
    write(system, USERS, keyed(ann="1", bob="1"))
    write(system, USERS, keyed(ann=None))
    system.tidy()
    assert [(row["key"], row["value"]) for row in rows(system, USERS)] == [(b"bob", b"1"), (b"ann", None)]
    clock.now += HOUR
    write(system, USERS, keyed(cid="1" * 2_000))
    system.tidy()
    assert [row["key"] for row in rows(system, USERS)] == [b"bob", b"cid"]


def test_compacting_again_does_not_make_tombstones_stay(system: EmbeddedSystem, clock: Clock) -> None:
    write(system, USERS, keyed(ann=None))
    for minutes in (20, 20, 20):
        clock.now += minutes * 60_000
        write(system, USERS, keyed(bob=str(minutes) * 2_000))
        system.tidy()
    assert [row["key"] for row in rows(system, USERS)] == [b"bob"]


def test_a_key_whose_tombstone_has_gone_stays_deleted(system: EmbeddedSystem, clock: Clock) -> None:
    transaction = system.begin("users", 1)
    transaction.put("users", b"ann", b"1")
    transaction.commit()
    write(system, USERS, keyed(ann=None))
    clock.now += 2 * HOUR
    system.tidy()
    assert rows(system, USERS) == []
    assert system.latest("users") == {}
    transaction = system.begin("users", 1, {b"ann": None})
    transaction.put("users", b"bob", b"1")
    transaction.commit()
    assert system.latest("users") == {b"bob": b"1"}


def test_a_reader_goes_on_across_a_compaction(system: EmbeddedSystem) -> None:
    for number in range(4):
        write(system, USERS, keyed(**{f"user{n}": str(number) * 900 for n in range(1_000)}))
    reading = system.read(USERS, 0, 4_000)
    first = next(reading)
    system.tidy()
    seen = first.column("offset").to_pylist() + [
        offset for part in reading for offset in part.column("offset").to_pylist()
    ]
    assert seen == sorted(set(seen))
    assert set(seen) >= set(range(3_000, 4_000))


def test_a_compacted_stream_takes_no_more_room_than_its_newest_records_and_as_much_again(
    tmp_path: Path,
) -> None:
    system = EmbeddedSystem(tmp_path, upkeep=MaintenanceRules(compact_from_bytes=10_000))
    system.create("users", 1, StreamOptions(compacted=True))
    for number in range(200):
        write(system, USERS, keyed(**{f"user{n}": str(number) * 20 for n in range(50)}))
    assert system.holdings()["users"].size < 25_000
    assert len(system.latest("users")) == 50
    system.close()


def test_a_record_without_a_key_is_refused_by_a_compacted_stream(system: EmbeddedSystem) -> None:
    with pytest.raises(ValueError, match="key"):
        write(system, USERS, values("a"))


def test_a_put_to_a_stream_that_is_not_compacted_is_refused(system: EmbeddedSystem) -> None:
    system.create("views", 1)
    with pytest.raises(ValueError, match="not compacted"):
        system.begin("nobody", 1).put("views", b"a", b"b")
    with pytest.raises(ValueError, match="not compacted"):
        system.latest("views")


def test_records_older_than_the_retention_go_with_the_next_commit(
    system: EmbeddedSystem, clock: Clock
) -> None:
    system.create("views", 1, StreamOptions(retention_ms=HOUR))
    write(system, VIEWS, batch([(None, b"old", clock.now), (None, b"older", clock.now - HOUR)]))
    clock.now += HOUR
    write(system, VIEWS, batch([(None, b"without time", None)]))
    assert texts(system, VIEWS) == ["old", "older", "without time"]
    clock.now += 1
    write(system, VIEWS, values("of long ago"))
    assert texts(system, VIEWS) == ["without time", "of long ago"]
    clock.now += HOUR
    system.tidy()
    assert system.spans([VIEWS]) == {VIEWS: OffsetSpan(4, 4)}


def test_many_small_commits_make_few_blocks(system: EmbeddedSystem, tmp_path: Path) -> None:
    system.create("views", 1)
    for number in range(1_000):
        write(system, VIEWS, values(str(number)))
    assert block_count(tmp_path, 2) < 1_000 / 64 + 64
    assert texts(system, VIEWS) == [str(number) for number in range(1_000)]


def test_room_of_records_that_were_let_go_is_used_again(system: EmbeddedSystem, tmp_path: Path) -> None:
    system.create("views", 1)
    sizes = []
    for _ in range(30):
        end = write(system, VIEWS, values(*["x" * 500] * 2_000))
        system.delete_before({VIEWS: end})
        sizes.append((tmp_path / "data.mdb").stat().st_size)
    assert sizes[-1] == sizes[9]
    assert system.holdings()["views"].records == 0


def test_letting_go_of_part_of_a_block_hides_that_part(system: EmbeddedSystem) -> None:
    system.create("views", 1)
    write(system, VIEWS, values("a", "b", "c"))
    system.delete_before({VIEWS: 2})
    assert texts(system, VIEWS) == ["c"]
    system.delete_before({VIEWS: 1})
    assert system.spans([VIEWS]) == {VIEWS: OffsetSpan(2, 3)}
    system.delete_before({VIEWS: 99})
    assert system.spans([VIEWS]) == {VIEWS: OffsetSpan(3, 3)}
