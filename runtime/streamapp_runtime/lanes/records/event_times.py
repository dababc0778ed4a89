"""The event time of each record of a batch, and the records whose time is too far ahead to be true.

The watermark follows the newest event time and never goes back, so one record of the year 2996 would make
every later row late. A record that is further ahead of the clock than `eventTime.maxAhead` is a bad record.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.operators.stateless.stream_operations import Read

_MOST_SECONDS = (2**63 - 1) // 1000
_FACTORS = {"milliseconds": 1, "seconds": 1000}


@dataclass(frozen=True, slots=True)
class EventTimes:
    """The times of the rows in milliseconds, and what follows from those that a column tells."""

    times: pa.Array
    of_column: pa.Array | None = None  # those that a column tells, null for those that are too far ahead
    ahead: Mapping[int, str] = field(default_factory=dict)  # place in the batch -> why


def event_times(read: Read, stamps: pa.Array, columns: pa.RecordBatch, now_ms: int | None) -> EventTimes:
    """The time of the event where a column tells it, else the record's.

    A record's own time says when it was written: it must not carry a watermark past events of long ago.
    """
    if read.event_time is None:
        return EventTimes(stamps)
    column_times = _column_times(read, columns.column(read.event_time))
    times = pc.coalesce(column_times, stamps)
    if now_ms is None or read.max_ahead is None:
        return EventTimes(times, column_times)
    limit = now_ms + milliseconds(read.max_ahead)
    newest = pc.max(column_times).as_py()
    if newest is None or newest <= limit:
        return EventTimes(times, column_times)
    is_ahead = pc.fill_null(pc.greater(column_times, limit), False)
    ahead = {
        place: _reason(read, column_times[place].as_py(), now_ms)
        for place in np.flatnonzero(is_ahead.to_numpy(zero_copy_only=False)).tolist()
    }
    return EventTimes(times, pc.if_else(is_ahead, None, column_times), ahead)


def whole_milliseconds(moments: pa.Array) -> pa.Array:
    """Moments as milliseconds since 1970 began, as of the last whole one: also of those before 1970."""
    floored = pc.floor_temporal(moments, unit="millisecond")
    return floored.cast(pa.timestamp("ms", moments.type.tz)).cast(pa.int64())


def _column_times(read: Read, column: pa.Array) -> pa.Array:
    if read.event_time_unit is None:
        return whole_milliseconds(column)
    whole = column.cast(pa.int64())
    factor = _FACTORS[read.event_time_unit]
    if factor == 1:
        return whole
    bounded = pc.min_element_wise(whole, _MOST_SECONDS, skip_nulls=False)
    return pc.multiply(pc.max_element_wise(bounded, -_MOST_SECONDS, skip_nulls=False), factor)


def _reason(read: Read, time_ms: int, now_ms: int) -> str:
    days = (time_ms - now_ms) / 86_400_000
    when, now = (np.datetime64(time, "ms") for time in (time_ms, now_ms))
    return (
        f'column "{read.event_time}" says {when}Z, {days:,.1f} days ahead of the clock ({now}Z), and '
        f"eventTime.maxAhead is {read.max_ahead}; fix the producer, or raise maxAhead"
    )
