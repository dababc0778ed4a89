from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.plain_rows import Row
from tests.harness.engine.task_lane import lane
from tests.harness.oracles.join_rows import (
    CHOSEN,
    LEFT,
    NOTHING,
    RIGHT,
    meet,
    paired,
    row_counts,
    side_slices,
    sides,
)


@pytest.mark.parametrize("kind", [StoreKind.MEMORY, StoreKind.LMDB])
@given(
    st.integers(0, 12),
    st.lists(sides(st.none() | st.integers(-20, 20)), min_size=1, max_size=4),
    st.booleans(),
)
def test_rows_that_come_in_time_meet_each_other_once_however_they_are_cut(kind, within, pieces, settled):
    """Times lie at most 40 apart, so that nothing comes too late when that is allowed."""
    within = max(within, 40) if settled else within
    join = JoinStreams("joined", "inner", within, "event", CHOSEN)
    executor = make_executor(join, [LEFT, RIGHT], NOTHING)
    with lane(kind) as running:
        if settled:
            found = [
                row for left, right in pieces for row in running.batch(executor, [side_slices(left, right)])
            ]
        else:
            found = running.batch(executor, [side_slices(left, right) for left, right in pieces])
        assert running.contents() == running.replays()
    lefts = [row for left, _ in pieces for row in left if row.time is not None]
    rights = [row for _, right in pieces for row in right if row.time is not None]
    expected = [paired(a, b) for a in lefts for b in rights if meet(a, b) and abs(a.time - b.time) <= within]
    assert row_counts(found) == Counter(expected)


@given(st.integers(1, 12), st.lists(sides(st.integers(0, 12)), min_size=1, max_size=6))
def test_event_rows_are_forgotten_only_when_none_that_is_in_time_can_meet_them(within, pieces):
    """Each batch is ten later than the one before, and some rows come from as far back as may be."""
    join = JoinStreams("joined", "inner", within, "event", CHOSEN)
    executor = make_executor(join, [LEFT, RIGHT], NOTHING)
    newest: dict[int, int] = {}
    lefts: list[Row] = []
    rights: list[Row] = []
    found: list[Row] = []
    with lane() as running:
        for number, piece in enumerate(pieces):
            moved = [[row._replace(time=row.time + 10 * number) for row in side] for side in piece]
            in_time = [
                [row for row in side if row.time >= newest.get(row.task, -100) - within] for side in moved
            ]
            found += running.batch(executor, [side_slices(*in_time)])
            lefts += in_time[0]
            rights += in_time[1]
            for row in (*lefts, *rights):
                if row.key is not None and row.columns is not None:
                    newest[row.task] = max(row.time, newest.get(row.task, row.time))
        kept = running.contents()
    expected = [paired(a, b) for a in lefts for b in rights if meet(a, b) and abs(a.time - b.time) <= within]
    assert row_counts(found) == Counter(expected)
    for task, name in kept:
        horizon = (newest[task] - 2 * within) // within
        buckets = [int.from_bytes(key[:8], "big") - 2**63 for key in kept[task, name]]
        assert min(buckets) >= horizon


@pytest.mark.parametrize("type_", ["inner", "left", "right", "full"])
@given(
    st.integers(0, 12),
    st.lists(st.tuples(st.integers(0, 9), sides(st.integers(0, 99), most=5)), min_size=1, max_size=5),
)
def test_by_arrival_each_kept_row_goes_out_with_its_partners_or_once_alone(type_, within, batches):
    join = JoinStreams("joined", type_, within, "arrival", CHOSEN)
    executor = make_executor(join, [LEFT, RIGHT], NOTHING)
    lefts: list[tuple[int, Row]] = []
    rights: list[tuple[int, Row]] = []
    found: list[Row] = []
    now = 1_000
    with lane() as running:
        for pause, (left, right) in batches:
            now += pause
            found += running.batch(executor, [side_slices(left, []), side_slices([], right)], now)
            lefts += [(now, row) for row in left]
            rights += [(now, row) for row in right]
        found += running.batch(executor, [side_slices([], [])], now + 10 * (within + 1))
        assert running.contents() == {}
        assert running.replays() == {}
    pairs = [(a, b) for at, a in lefts for bt, b in rights if meet(a, b) and abs(at - bt) <= within]
    expected = [paired(a, b) for a, b in pairs]
    if type_ in {"left", "full"}:
        met = {id(a) for a, _ in pairs}
        expected += [paired(a, None) for _, a in lefts if id(a) not in met and a.columns is not None]
    if type_ in {"right", "full"}:
        met = {id(b) for _, b in pairs}
        expected += [paired(None, b) for _, b in rights if id(b) not in met and b.columns is not None]
    assert row_counts(found) == Counter(expected)


def test_a_pair_has_the_origin_of_the_row_that_came_later():
    executor = make_executor(JoinStreams("joined", "inner", 5, "event", CHOSEN), [LEFT, RIGHT], NOTHING)
    with lane() as running:
        running.batch(executor, [side_slices([Row(b"ann", ("p",), time=1, source=1, offset=11)], [])])
        (pair,) = running.batch(
            executor, [side_slices([], [Row(b"ann", (3, 0.5), time=4, source=2, offset=22)])]
        )
    assert pair == Row(b"ann", (3, "p"), time=4, source=2, offset=22)
