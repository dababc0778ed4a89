"""The windows that wait for later records when a run ends: which operator has them, and until when.

Read from the stores once they are closed in good order.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow.compute as pc

from streamapp_runtime.driver.start.launch import Launch
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


def open_windows(launch: Launch, watermark: int | None) -> tuple[OpenWindows, ...]:
    """The operators with windows that a watermark has not passed, of those that wait for it."""
    waiting = _waiting_operators(launch.program)
    every = (
        _open_windows_of(launch, name, entries, watermark)
        for name, entries in sorted(operator_entries(launch.program).items())
        if name in waiting and entries.kind in _WINDOWS
    )
    return tuple(one for one in every if one.windows)


def _waiting_operators(program: Program) -> set[str]:
    operations = [task.operation for task in program.python_tasks]
    uses = ((operation.own_state(), operation.event_time_use()) for operation in operations)
    return {name for name, use in uses if name is not None and use is not None and use.waiting is not None}


def _open_windows_of(launch: Launch, name: str, entries: StoredEntries, watermark: int | None) -> OpenWindows:
    root, application_id = Path(launch.setup.state), launch.app.application_id
    number, ends = 0, []
    for task in launch.partitions:
        if name not in tables_found(root, application_id, task):
            continue
        directory = state_directory(root, application_id, task, name) / "data"
        with closing(open_snapshot(OPERATOR_STORE_KIND, directory)) as store:
            for count, first_end in _ends(store, entries, watermark):
                number += count
                ends.append(first_end)
    return OpenWindows(name, number, min(ends, default=0))


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
