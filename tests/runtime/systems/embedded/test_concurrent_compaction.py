"""Compaction while others write, merge, truncate or compact: it may stop, and never costs a newest record."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamapp_runtime.systems.embedded.compaction import compact_partition
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.embedded.lmdb_environment import MAP_SIZE, Environment, Txn, shared_environment
from streamapp_runtime.systems.embedded.maintenance import MaintenanceRules
from streamapp_runtime.systems.stream_system import StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import keyed, rows, write

USERS = TopicPartition("users", 0)
STREAM = 1


class Disturbed:
    """The environment, where something happens before each of its write transactions."""

    def __init__(self, environment: Environment, happens: Callable[[], object]) -> None:
        self.environment = environment
        self.happens = happens

    @contextmanager
    def reading(self) -> Iterator[Txn]:
        with self.environment.reading() as txn:
            yield txn

    @contextmanager
    def writing(self) -> Iterator[Txn]:
        self.happens()
        with self.environment.writing() as txn:
            yield txn


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path, upkeep=MaintenanceRules(compact_at_commit_bytes=0))
    system.create("users", 1, StreamOptions(compacted=True))
    yield system
    system.close()


@pytest.fixture
def environment(system: EmbeddedSystem, tmp_path: Path) -> Iterator[Environment]:
    environment = shared_environment(tmp_path, False, MAP_SIZE)
    yield environment
    environment.leave()


def fill(system: EmbeddedSystem, rounds: int = 4) -> None:
    """More than is exchanged at once, and a tail of small blocks."""
    for number in range(rounds):
        write(system, USERS, keyed(**{f"user{n}": f"{number} {n}".ljust(5_000) for n in range(600)}))
    add_small(system, 40)


def add_small(system: EmbeddedSystem, count: int) -> None:
    for number in range(count):
        write(system, USERS, keyed(**{f"small{number % 10}": str(number)}))


def check_newest(system: EmbeddedSystem) -> None:
    """Every key's newest record is read in its place, and is what `latest` tells."""
    found = {row["key"]: row["value"] for row in rows(system, USERS) if row["value"] is not None}
    assert found == system.latest("users")
    users = {key: value for key, value in found.items() if key.startswith(b"user")}
    assert users == {b"user%d" % n: f"3 {n}".ljust(5_000).encode() for n in range(600)}


def test_small_commits_in_between_are_kept(system: EmbeddedSystem, environment: Environment) -> None:
    fill(system)
    compact_partition(Disturbed(environment, lambda: add_small(system, 30)), STREAM, 0, 0, None)
    add_small(system, 70)
    check_newest(system)
    assert system.latest("users")[b"small9"] == b"69"


@pytest.mark.parametrize("after", range(1, 6))
def test_of_two_compactions_at_once_one_stops(
    system: EmbeddedSystem, environment: Environment, after: int
) -> None:
    fill(system)
    calls = []

    def rival() -> None:
        calls.append(None)
        if len(calls) == after:
            assert compact_partition(environment, STREAM, 0, 0, None)

    done = compact_partition(Disturbed(environment, rival), STREAM, 0, 0, None)
    assert done == (
        after in (1, 5)
    )  # before the first exchange, or after the last: nothing was left to the other
    add_small(system, 100)
    check_newest(system)
    assert len(rows(system, USERS)) <= 600 + 10 + 100 + 40


def test_a_compaction_that_stopped_half_way_leaves_blocks_that_can_be_merged(
    system: EmbeddedSystem, environment: Environment
) -> None:
    fill(system)

    left = [1, 2, 3]
    with pytest.raises(IndexError):
        compact_partition(Disturbed(environment, left.pop), STREAM, 0, 0, None)
    add_small(system, 100)
    check_newest(system)


def test_truncation_in_between_is_kept(system: EmbeddedSystem, environment: Environment) -> None:
    fill(system)
    end = system.spans([USERS])[USERS].end
    compact_partition(Disturbed(environment, lambda: system.delete_before({USERS: end})), STREAM, 0, 0, None)
    assert rows(system, USERS) == []
    assert system.spans([USERS])[USERS].oldest == end


def test_a_batch_that_was_read_stays_what_it_was_when_its_blocks_are_overwritten(
    system: EmbeddedSystem,
) -> None:
    system.create("views", 1)
    views = TopicPartition("views", 0)
    end = write(system, views, keyed(**{f"user{n}": "x" * 100 for n in range(500)}))
    (batch,) = system.read(views, 0, end)
    before = batch.to_pylist()
    for number in range(10):
        system.delete_before({views: end})
        end = write(system, views, keyed(**{f"user{n}": str(number) * 100 for n in range(500)}))
    assert batch.to_pylist() == before
