"""Joins by event time with a watermark: what is kept goes when no partner can come, alone if it met none."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.operation_table import make_executor
from tests.harness.engine.plain_rows import Row
from tests.harness.engine.task_lane import lane
from tests.harness.engine.watermark_batches import Ticking
from tests.harness.oracles.join_rows import (  # fmt: skip
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

KEPT = {"inner": (False, False), "left": (True, False), "right": (False, True), "full": (True, True)}
batches = st.lists(st.tuples(sides(st.integers(-20, 40)), st.integers(0, 20)), max_size=5)
types = st.sampled_from(sorted(KEPT))


def joined(kind: str, within: int):
    return make_executor(JoinStreams("joined", kind, within, "event", CHOSEN), [LEFT, RIGHT], NOTHING)


@given(batches, st.integers(0, 12), types)
def test_at_the_end_every_pair_of_rows_that_were_in_time_and_every_row_without_one_went_out(
    pieces, within, kind
):
    with lane() as running:
        ticking = Ticking(running, joined(kind, within), "joined")
        watermark: int | None = None
        lefts: list[Row] = []
        rights: list[Row] = []
        found: list[Row] = []
        for (left, right), move in pieces:
            in_time = [
                [row for row in side if row.columns and (watermark is None or row.time >= watermark)]
                for side in (left, right)
            ]
            lefts += in_time[0]
            rights += in_time[1]
            watermark = move if watermark is None else watermark + move
            found += ticking.batch([side_slices(left, right)], watermark)
            assert running.contents() == running.replays()
        found += ticking.end()
        assert running.contents() == {}
    pairs = [(a, b) for a in lefts for b in rights if meet(a, b) and abs(a.time - b.time) <= within]
    expected = [paired(a, b) for a, b in pairs]
    keeps_left, keeps_right = KEPT[kind]
    met_left, met_right = {id(a) for a, _ in pairs}, {id(b) for _, b in pairs}
    expected += [paired(a, None) for a in lefts if keeps_left and id(a) not in met_left]
    expected += [paired(None, b) for b in rights if keeps_right and id(b) not in met_right]
    assert row_counts(found) == Counter(expected)


@given(batches, st.integers(1, 12), types)
def test_no_row_goes_out_further_behind_the_watermark_than_the_join_holds_it_back(pieces, within, kind):
    operation = JoinStreams("joined", kind, within, "event", CHOSEN)
    hold = operation.event_time_use().hold_back_ms
    with lane() as running:
        ticking = Ticking(running, make_executor(operation, [LEFT, RIGHT], NOTHING), "joined")
        watermark = -30
        for (left, right), move in pieces:
            before, watermark = ticking.watermark, watermark + move
            for row in ticking.batch([side_slices(left, right)], watermark):
                assert before is None or row.key is None or row.time >= before - hold


def test_state_goes_as_the_watermark_passes_so_that_it_does_not_grow():
    with lane() as running:
        ticking = Ticking(running, joined("full", 10), "joined")
        counts = []
        for time in range(0, 1000, 10):
            one = [Row(b"ann", ("a",), time=time), Row(b"bob", ("b",), time=time)]
            ticking.batch([side_slices(one, [])], time)
            counts.append(len(running.contents()[0, "joined"]))
        assert max(counts) <= 2 * 4


@pytest.mark.parametrize("kind", ["left", "full"])
def test_a_row_that_an_end_leaves_alone_may_still_meet_another_in_the_next_turn(kind):
    with lane() as running:
        ticking = Ticking(running, joined(kind, 10), "joined")
        ticking.batch([side_slices([Row(b"ann", ("a",), time=5)], [])], 3, reopens=True)
        (alone,) = ticking.end(reopens=True)
        assert alone.columns == (None, "a")
        ticking.watermark = None
        (pair,) = ticking.batch([side_slices([], [Row(b"ann", (7, 0.5), time=9)])], 4, reopens=True)
        assert pair.columns == (7, "a")
        assert ticking.end(reopens=True) == []
