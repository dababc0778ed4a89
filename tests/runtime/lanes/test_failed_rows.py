"""Rows on which an expression failed travel to the driver as they were, beside the place of their record."""

from typing import Any

import pyarrow as pa

from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, ReadRange, TaskOrder
from streamapp_runtime.lanes.protocol.failed_rows import MOST_FAILED_ROWS, FailedRows, failed_rows_in

LANE = LaneOrder(
    "processor-0",
    (
        TaskOrder("a", 0, "", (ReadRange("views", 0, 0, 9), ReadRange("users", 2, 5, 9))),
        TaskOrder("b", 1, "", (ReadRange("views", 1, 0, 9),)),
    ),
)


def rows(*sources: int, text: str = "x") -> pa.RecordBatch:
    count = len(sources)
    columns: dict[str, Any] = {
        "src": pa.array(sources, pa.int32()),
        "off": pa.array(range(count), pa.int64()),
        "s0": [text] * count,
    }
    return pa.record_batch(columns)


def test_each_row_is_told_with_the_stream_and_partition_that_its_record_came_from() -> None:
    misfits = FailedRows.of(LANE)
    misfits.add(rows(2, 0))
    misfits.add(rows(1, text="y"))
    found = failed_rows_in(misfits.text()).to_pylist()
    assert [(row["stream"], row["partition"], row["off"], row["s0"]) for row in found] == [
        ("views", 1, 0, "x"),
        ("views", 0, 1, "x"),
        ("users", 2, 0, "y"),
    ]


def test_rows_that_come_of_no_single_record_blame_nobody() -> None:
    misfits = FailedRows.of(LANE)
    misfits.add(rows(-1))
    assert misfits.text() == ""


def test_no_more_rows_travel_at_once_than_a_report_should_hold() -> None:
    misfits = FailedRows.of(LANE)
    for _ in range(3):
        misfits.add(rows(*[0] * (MOST_FAILED_ROWS // 2 + 1)))
    assert failed_rows_in(misfits.text()).num_rows == MOST_FAILED_ROWS
