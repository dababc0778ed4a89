"""The windows that wait for later records when a run ends: which operator has them, and until when.

Read from the stores once they are closed in good order.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow.compute as pc

from streamapp.control.control_message import NO_BOUND
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.lanes.task_stores.store_specs import OPERATOR_STORE_KIND, operator_entries
from streamapp_runtime.operators.state.stored_entries import (
    SESSION_TIMES_PREFIX,
    EntryKind,
    StoredEntries,
)
from streamapp_runtime.operators.state.time_keys import TIME_WIDTH, key_before, key_times
from streamapp_runtime.program.program import Program
from streamapp_runtime.stores.directories.state_directory import state_directory, tables_found
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


def open_windows(launch: Launch, watermarks: Mapping[str, Mapping[str, int]]) -> tuple[OpenWindows, ...]:
    """The operators with windows that a watermark has not passed, of those that wait for it.

    `watermarks` are those of each task's streams. The windows of a task are held against what the operator
    goes by there, as when rows go out.
    """
    waiting = _waiting_operators(launch.program)
    names = sorted(operator_entries(launch.program).items())
    every = (
        _open_windows_of(launch, name, entries, watermarks)
        for name, entries in names
        if name in waiting and entries.kind in _WINDOWS
    )
    return tuple(one for one in every if one is not None)


def _waiting_operators(program: Program) -> set[str]:
    operations = [task.operation for task in program.python_tasks]
    uses = ((operation.own_state(), operation.event_time_use()) for operation in operations)
    return {name for name, use in uses if name is not None and use is not None and use.waits}


def _open_windows_of(
    launch: Launch, name: str, entries: StoredEntries, watermarks: Mapping[str, Mapping[str, int]]
) -> OpenWindows | None:
    root, application_id = Path(launch.setup.state), launch.app.application_id
    parts: list[OpenWindows] = []
    for task in launch.partitions:
        if name not in tables_found(root, application_id, task):
            continue
        watermark = _watermark(launch.setup.time, name, task, watermarks.get(task, {}))
        if watermark is not None and watermark >= NO_BOUND:  # what has ended leaves nothing open
            continue
        directory = state_directory(root, application_id, task, name) / "data"
        with closing(open_snapshot(OPERATOR_STORE_KIND, directory)) as store:
            ends = _ends(store, entries, watermark)
            parts += [OpenWindows(name, count, first_end, watermark) for count, first_end in ends]
    if not parts:
        return None
    known = [one.watermark for one in parts if one.watermark is not None]
    lowest = min(known) if len(known) == len(parts) else None
    return OpenWindows(name, sum(one.windows for one in parts), min(one.first_end for one in parts), lowest)


def _watermark(
    time: EventTimeSetup | None, operator: str, task: str, watermarks: Mapping[str, int]
) -> int | None:
    """The watermark that an operator goes by in a task."""
    if time is None or operator not in time.states:
        return None
    return time.states[operator].watermark({stream: watermarks.get(stream) for stream in time.streams(task)})


def _ends(store: Store, entries: StoredEntries, watermark: int | None) -> Iterator[tuple[int, int]]:
    """So many windows, of which the first one ends then, part by part."""
    if entries.kind is EntryKind.SESSIONS:
        start = SESSION_TIMES_PREFIX + (b"" if watermark is None else key_before(watermark))
        for keys, _ in store.batches(start, bytes([SESSION_TIMES_PREFIX[0] + 1])):
            times = pc.binary_slice(keys, len(SESSION_TIMES_PREFIX), len(SESSION_TIMES_PREFIX) + TIME_WIDTH)
            yield len(keys), int(key_times(times)[0])
        return
    start = b"" if watermark is None else key_before(watermark - entries.span_ms + 1)
    for keys, _ in store.batches(start):
        yield len(keys), int(key_times(keys)[0]) + entries.span_ms
