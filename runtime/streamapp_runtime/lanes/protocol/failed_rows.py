"""Rows on which an expression failed in a search for them, on their way to the driver."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, ReadRange
from streamapp_runtime.lanes.protocol.sent_values import sent_list, sent_number, sent_text

MOST_FAILED_ROWS = 1_000
"""So many of a lane are told at once; where there are more, the search is made again without these."""

FailedRecord = tuple[str, int, int, str]
"""Stream, partition and offset of a record, and why an expression fails on it."""


@dataclass(slots=True)
class FailedRows:
    """The rows of one lane, and the ranges that its records come from."""

    ranges: Sequence[ReadRange]
    _batches: list[pa.RecordBatch] = field(default_factory=list)

    @classmethod
    def of(cls, lane: LaneOrder) -> "FailedRows":
        """None yet."""
        return cls([read_range for task in lane.tasks for read_range in task.ranges])

    def add(self, rows: pa.RecordBatch) -> None:
        """Take rows; of those that come of no single record nobody is to blame."""
        rows = rows.filter(pc.greater_equal(rows.column("src"), 0))
        left = MOST_FAILED_ROWS - sum(batch.num_rows for batch in self._batches)
        if rows.num_rows and left > 0:
            self._batches.append(rows.slice(0, left))

    def text(self) -> str:
        """As they travel; empty where there are none."""
        if not self._batches:
            return ""
        rows = pa.Table.from_batches(self._batches)
        places = [self.ranges[number] for number in rows["src"].to_numpy()]
        rows = rows.append_column("stream", pa.array([place.stream for place in places], pa.string()))
        rows = rows.append_column("partition", pa.array(np.array([place.partition for place in places])))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        return base64.b64encode(sink.getvalue()).decode("ascii")


def failed_rows_in(text: str) -> pa.Table:
    """The wide rows, and beside each the stream and partition of its record."""
    return pa.ipc.open_stream(base64.b64decode(text)).read_all()


def failed_records_of(values: object) -> tuple[FailedRecord, ...]:
    """Records as they were sent in JSON."""
    return tuple(
        (sent_text(stream), sent_number(partition), sent_number(offset), sent_text(reason))
        for stream, partition, offset, reason in sent_list(values)
    )
