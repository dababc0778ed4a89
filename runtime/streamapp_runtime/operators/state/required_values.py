"""Rows without what an operation needs: left out, and counted where someone may miss them."""

import pyarrow.compute as pc

from streamapp_runtime.operators.state.lane_state import NULL_KEYS_COUNTER, NULL_TIMES_COUNTER, LaneState
from streamapp_runtime.rows.slice import Slice


def without_tombstones(rows: Slice) -> Slice:
    """The rows that have columns."""
    return rows.filter(pc.invert(rows.tombstone)) if rows.tombstone.true_count else rows


def with_key(rows: Slice, name: str, state: LaneState) -> Slice:
    """The rows that have a key; the others are counted."""
    state.count(NULL_KEYS_COUNTER, name, rows.key.null_count)
    return rows.filter(rows.key.is_valid()) if rows.key.null_count else rows


def with_value(rows: Slice, position: int, name: str, state: LaneState) -> Slice:
    """The rows that have a value in the column that chose their task; the others have no key either."""
    column = rows.columns[position]
    state.count(NULL_KEYS_COUNTER, name, column.null_count)
    return rows.filter(column.is_valid()) if column.null_count else rows


def with_time(rows: Slice, name: str, state: LaneState) -> Slice:
    """The rows that have a time; the others are counted."""
    state.count(NULL_TIMES_COUNTER, name, rows.time.null_count)
    return rows.filter(rows.time.is_valid()) if rows.time.null_count else rows
