"""The windows of event time of a row. Times are milliseconds; a window is [start, start + size)."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.int64]


def windows_of(times: Numbers, size: int, advance: int) -> tuple[Numbers, Numbers]:
    """For each row and window: which row, and where the window starts. Rows stay in their order."""
    latest = times // advance * advance
    most = -(-size // advance)
    starts = latest[:, None] - np.arange(most - 1, -1, -1) * advance
    within = times[:, None] < starts + size
    rows = np.broadcast_to(np.arange(len(times))[:, None], within.shape)
    return rows[within], starts[within]


def merge_sessions(groups: Numbers, starts: Numbers, ends: Numbers, gap: int) -> tuple[Numbers, Numbers]:
    """Join spans of time that are no further apart than the gap, by group.

    Gives the spans' order by group and start, and in that order the number of the session of each.
    """
    order = np.lexsort((starts, groups))
    groups, starts, ends = groups[order], starts[order], ends[order]
    opens = np.ones(len(order), bool)
    same = groups[1:] == groups[:-1]
    opens[1:] = ~same | (starts[1:] > _latest(groups, ends, same)[:-1] + gap)
    return order, np.cumsum(opens) - 1


def _latest(groups: Numbers, ends: Numbers, same: npt.NDArray[np.bool_]) -> Numbers:
    """The latest end so far within the group, where groups stand in order."""
    if not (same & (ends[1:] < ends[:-1])).any():
        return ends
    # Ranks by group, then end: those of a later group are all greater, so that the maximum starts again.
    ranked = np.lexsort((ends, groups))
    rank = np.empty(len(ends), np.int64)
    rank[ranked] = np.arange(len(ends))
    latest: Numbers = ends[ranked[np.maximum.accumulate(rank)]]
    return latest


def window_columns(starts: Numbers, ends: Numbers) -> tuple[pa.Array, pa.Array]:
    """Start and end of windows as the columns that an aggregate puts out."""
    return _as_timestamps(starts), _as_timestamps(ends)


def _as_timestamps(times: Numbers) -> pa.Array:
    return pa.array(times * 1000).cast(pa.timestamp("us", "UTC"))
