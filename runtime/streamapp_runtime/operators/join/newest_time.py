"""The newest time that an operator has seen of a task's rows, kept beside what else it keeps."""

import pyarrow as pa

from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.time_keys import key_before

_KEY = pa.array([key_before(2**63 - 1)], pa.binary())
"""Shorter than the key of any row, and behind all of them."""


def newest_time(state: LaneState, task: int, name: str) -> int | None:
    """The newest time seen; None before the first row."""
    found = state.store(task, name).get(_KEY)[0].as_py()
    return None if found is None else int.from_bytes(found, "little", signed=True)


def note_newest_time(state: LaneState, task: int, name: str, time: int) -> None:
    """Note a time that was seen; an older one changes nothing."""
    before_that = newest_time(state, task, name)
    if before_that is None or time > before_that:
        state.write(task, name, _KEY, pa.array([time.to_bytes(8, "little", signed=True)], pa.binary()))
