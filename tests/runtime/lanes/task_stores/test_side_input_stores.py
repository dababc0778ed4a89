"""A table that side inputs fill says by itself what it contains, and takes nothing that it cannot place."""

import pyarrow as pa
import pytest

from streamapp_runtime.lanes.protocol.batch_orders import ReadRange
from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.filled_table import DAY, NAME
from tests.runtime.lanes.task_stores.conftest import Make

KINDS = list(StoreKind)
PERSISTENT = [StoreKind.LMDB, StoreKind.ROCKSDB]


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_value_of_a_key_stays_and_a_null_value_deletes(make: Make, kind: StoreKind) -> None:
    table = make(kind)
    table.write(a="1", b="1")
    table.batch()
    table.write(a="2", b=None, c="1")
    assert table.batch() == {0: 5}
    assert table.content() == {"a": "2", "c": "1"}


@pytest.mark.parametrize("kind", PERSISTENT)
def test_rows_and_position_are_in_the_store_at_once_and_outlive_the_worker(
    make: Make, kind: StoreKind
) -> None:
    table = make(kind)
    table.write(a="1", b="1")
    table.batch()
    table.dies()
    assert table.opened() == {0: 2}
    assert table.content() == {"a": "1", "b": "1"}


@pytest.mark.parametrize("before_join", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_came_in_a_batch_that_was_not_completed_leaves_no_trace(
    make: Make, kind: StoreKind, before_join: bool
) -> None:
    table = make(kind, before_join=before_join)
    table.write(a="1")
    table.batch()
    table.write(a="2", b="1")
    assert table.batch(commits=False) == {0: 1}
    assert table.content() == {"a": "1"}
    assert table.batch() == {0: 3}
    assert table.content() == {"a": "2", "b": "1"}


@pytest.mark.parametrize("before_join", [False, True])
@pytest.mark.parametrize(("start", "end"), [(0, 3), (2, 3), (0, 1)])
def test_records_from_elsewhere_than_where_the_store_ends_are_not_taken(
    make: Make, start: int, end: int, before_join: bool
) -> None:
    table = make(before_join=before_join)
    table.write(a="1", b="1", c="1")
    table.batch(upto={0: 1})
    assert table.fed(ReadRange(NAME, 0, start, end)) == {0: 1}
    assert table.content() == {"a": "1"}


def test_updates_are_seen_from_the_next_batch_on(make: Make) -> None:
    table = make()
    table.write(a="1")
    table.opened()
    keys, values = [column(["a"]) for _ in range(2)]
    table.side_inputs.fill("task-0", "tiers", keys, values)
    assert table.content() == {}


def test_updates_are_seen_by_the_joins_of_their_batch_where_that_is_asked_for(make: Make) -> None:
    table = make(before_join=True)
    table.write(a="1")
    table.opened()
    keys, values = [column(["a"]) for _ in range(2)]
    table.side_inputs.fill("task-0", "tiers", keys, values)
    assert table.content() == {"a": "a"}


def test_an_added_partition_is_read_from_its_oldest_record_and_nothing_else_is_read_again(make: Make) -> None:
    table = make()
    table.write(a="1")
    table.write(1, z="0", y="0")
    table.batch()
    table.partitions = (0, 1)
    assert table.opened() == {0: 1, 1: 0}
    assert table.batch() == {0: 1, 1: 2}
    assert table.content() == {"a": "1", "y": "0", "z": "0"}


def test_a_partition_that_went_to_another_task_takes_its_rows_with_it(make: Make) -> None:
    table = make(partitions=(0, 1))
    table.write(a="1")
    table.write(1, z="0")
    table.batch()
    table.partitions = (0,)
    assert table.opened() == {0: 0}
    assert table.content() == {}


def test_a_task_that_lost_all_of_its_partitions_while_it_was_away_has_no_rows_left(make: Make) -> None:
    table = make()
    table.write(a="1")
    table.batch()
    table.restarts()
    table.partitions = ()
    assert table.opened() == {}
    assert table.content() == {}


def test_a_quiet_table_in_use_does_not_grow_stale(make: Make) -> None:
    table = make()
    table.write(a="1")
    table.batch()
    for _ in range(6):
        table.now += DAY // 3
        table.opened()
    table.dies()
    assert table.opened() == {0: 1}


def test_a_stop_notes_until_when_the_stream_was_followed(make: Make) -> None:
    table = make()
    table.write(a="1")
    table.batch()
    table.now += DAY // 5
    table.restarts()
    table.now += DAY - 1
    assert table.opened() == {0: 1}


def column(values: list[str]) -> pa.Array:
    return pa.array([value.encode() for value in values], pa.binary())
