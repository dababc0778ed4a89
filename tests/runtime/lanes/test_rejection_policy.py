"""How many records may be left out, however batches cut a partition, held against a count one by one."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.lanes.protocol.batch_orders import ReadRange
from streamapp_runtime.lanes.protocol.rejections import (
    MOST_REASONS,
    MOST_SAMPLES,
    OTHER_REASONS,
    RejectionCause,
    RejectionCount,
    RejectionReport,
    RejectionSample,
)
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord
from streamapp_runtime.lanes.records.record_decoding import DecodedRecords, RequestedRange
from streamapp_runtime.lanes.records.rejection_counter import RejectionCounter
from streamapp_runtime.lanes.records.rejection_policy import RejectionLimit, RejectionPolicy, samples
from tests.harness.engine.plain_rows import Row, slice_of

partitions = st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1, max_size=60).map(
    lambda steps: [(sum(gap for gap, _ in steps[: at + 1]), bad) for at, (_, bad) in enumerate(steps)]
)
"""Offsets, some of which hold no record, and whether the record there is bad."""


def first_passed(records: list[tuple[int, bool]], limit: RejectionLimit) -> int | None:
    """The offset of the first record with which a limit is passed."""
    window, number, in_a_row = 0, 0, 0
    for offset, bad in records:
        in_a_row = in_a_row + 1 if bad else 0
        if offset // limit.window != window:
            window, number = offset // limit.window, 0
        number += bad
        if number > limit.records or in_a_row > limit.in_a_row:
            return offset
    return None


@given(
    partitions, st.sampled_from((1, 4, 40)), st.integers(5, 40), st.integers(1, 5), st.sampled_from((1, 2, 9))
)
def test_the_bound_is_passed_where_a_count_record_by_record_passes_it(
    records: list[tuple[int, bool]], allowed: int, window: int, in_a_row: int, cut: int
) -> None:
    limit = RejectionLimit(min(1.0, allowed / window), window, in_a_row)
    policies = {RejectionCause.RECORD: RejectionPolicy("skip", limit)}
    order = RequestedRange(ReadRange("events", 0, 0, records[-1][0] + 1), 0, 0)
    counts: list[RejectionCount] = []
    read, passed = 0, ""
    while read < len(records) and not passed:
        batch = records[read : read + cut]
        rows = slice_of([Row(columns=(), offset=offset) for offset, bad in batch if not bad], pa.schema([]))
        rejected = [RejectedRecord("events", 0, offset, "bad", None, b"", 0) for offset, bad in batch if bad]
        counter = RejectionCounter(policies, counts, "events", 0)
        passed = counter.count(DecodedRecords(order, rows, 0, tuple(rejected)))
        counts = counter.report().counts or counts
        read += len(batch)
    expected = first_passed(records, limit)
    assert bool(passed) == (expected is not None)
    if expected is not None:
        assert expected in [offset for offset, _ in records[read - len(batch) : read]]


def test_a_share_is_the_same_number_of_records_for_a_small_input() -> None:
    assert RejectionLimit(0.01, 10_000, 100).records == 100
    assert RejectionLimit(0.0007, 10_000, 100).records == 7
    assert RejectionLimit(0.00001, 10_000, 100).records == 1


def test_what_a_task_left_out_travels_as_it_is() -> None:
    report = RejectionReport([RejectionCount(RejectionCause.CODE, "events", 3, 7, 2, 1)])
    report.note("events", ["by zero", "no number", "by zero"])
    assert RejectionReport.parse(report.fields()) == report
    assert RejectionReport().fields() == {}


def test_samples_travel_as_they_are_and_no_more_than_a_few() -> None:
    report, other = RejectionReport(), RejectionReport()
    made = [RejectionSample("events", 3, offset, "no number", None, "") for offset in range(9)]
    report.sample(iter(made[:2]))
    other.sample(iter(made[2:]))
    report.add(other)
    assert report.samples == made[:MOST_SAMPLES]
    assert RejectionReport.parse(report.fields()) == report


def test_reasons_that_differ_in_each_record_are_counted_together() -> None:
    report = RejectionReport()
    for number in range(3):
        report.note("events", [f"{number}.{other}" for other in range(MOST_REASONS)])
    assert len(report.reasons) == MOST_REASONS + 1
    assert report.reasons["events", OTHER_REASONS] == 2 * MOST_REASONS
    assert report.reasons.total() == 3 * MOST_REASONS


def test_samples_show_different_reasons_first() -> None:
    reasons = ["no number", "no number", "no number", "no text"]
    rejected = [RejectedRecord("events", 1, offset, why, None, b"", 0) for offset, why in enumerate(reasons)]
    assert samples(rejected) == (
        "events#1 at offset 0: no number; events#1 at offset 3: no text; events#1 at offset 1: no number"
    )
