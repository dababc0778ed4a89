"""The windows that wait for later records when a run ends: which operator has them, and until when.

Read from the stores once they are closed in good order.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

from streamapp.control.control_message import NO_BOUND
from streamapp.control.stream_watermark import lowest_watermark
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.lanes.event_time.reached_watermarks import ReachedWatermarks
from streamapp_runtime.lanes.task_stores.store_specs import OPERATOR_STORE_KIND, operator_entries
from streamapp_runtime.operators.state.stored_entries import (
    SESSION_TIMES_PREFIX,
    SESSIONS_PREFIX,
    EntryKind,
    StoredEntries,
)
from streamapp_runtime.operators.state.time_keys import key_before, key_times
from streamapp_runtime.program.program import Program
from streamapp_runtime.stores.directories.state_directory import state_directory, stored_tables
from streamapp_runtime.stores.store import Store
from streamapp_runtime.stores.store_snapshot import open_snapshot

_WINDOWS: Final = (EntryKind.WINDOWS, EntryKind.SESSIONS)


@dataclass(frozen=True, slots=True)
class OpenWindows:
    """The windows of one operator that were not put out yet."""

    operator: str
    windows: int
    first_end: int  # the earliest of their ends, in milliseconds
    watermark: int | None  # the lowest of the tasks that have them; None where one has none yet


def open_windows(launch: Launch, reached: ReachedWatermarks) -> tuple[OpenWindows, ...]:
    """The operators with windows that a watermark has not passed, of those that wait for it.

    The windows of a task are held against what the operator has reached there, as when rows go out.
    """
    waiting = _waiting_operators(launch.program)
    names = sorted(operator_entries(launch.program).items())
    every = (
        _open_windows_of(launch, name, entries, reached)
        for name, entries in names
        if name in waiting and entries.kind in _WINDOWS
    )
    return tuple(one for one in every if one is not None)


def _waiting_operators(program: Program) -> set[str]:
    operations = [task.operation for task in program.tasks]
    uses = ((operation.own_state(), operation.event_time_use()) for operation in operations)
    return {name for name, use in uses if name is not None and use is not None and use.waits}


def _open_windows_of(
    launch: Launch, name: str, entries: StoredEntries, reached: ReachedWatermarks
) -> OpenWindows | None:
    root, application_id, time = Path(launch.setup.state), launch.app.application_id, launch.setup.time
    parts: list[OpenWindows] = []
    for task in launch.partitions:
        if name not in stored_tables(root, application_id, task):
            continue
        watermark = reached.in_task(time.states[name], task) if time and name in time.states else None
        if watermark is not None and watermark >= NO_BOUND:  # what has ended leaves nothing open
            continue
        directory = state_directory(root, application_id, task, name) / "data"
        with closing(open_snapshot(OPERATOR_STORE_KIND, directory)) as store:
            ends = _ends(store, entries, watermark)
            parts += [OpenWindows(name, count, first_end, watermark) for count, first_end in ends]
    if not parts:
        return None
    lowest = lowest_watermark(one.watermark for one in parts)
    return OpenWindows(name, sum(one.windows for one in parts), min(one.first_end for one in parts), lowest)


def _ends(store: Store, entries: StoredEntries, watermark: int | None) -> Iterator[tuple[int, int]]:
    """So many windows, of which the first one ends then, part by part."""
    if entries.kind is EntryKind.SESSIONS:
        for keys, values in store.batches(SESSIONS_PREFIX, SESSION_TIMES_PREFIX):
            for _, sessions in entries.rows(keys, values):
                ends = sessions.column("window_end").cast(pa.int64()).to_numpy() // 1000
                waiting = ends if watermark is None else ends[ends >= watermark]
                if len(waiting):
                    yield len(waiting), int(waiting.min())
        return
    start = b"" if watermark is None else key_before(watermark - entries.span_ms + 1)
    for keys, _ in store.batches(start):
        yield len(keys), int(key_times(keys)[0]) + entries.span_ms
