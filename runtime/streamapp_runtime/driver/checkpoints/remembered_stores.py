"""Locations and positions of the stores of an app's tasks: beside the checkpoints, for later drivers.

They are noted when lanes are bound, when all stores have been restored, and when lanes close them. Nothing
is written while everything was always at one location. They only save work: what cannot be read is empty,
and a location that turns out to have lost a store is taken to have lost all that were left there.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.placement.locations.store_history import StoreHistory, StorePositions
from streamapp.protocol.packed_lists import bytes_to_text, text_to_bytes
from streamapp.protocol.store_history_codec import pack_store_history, unpack_store_history
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.checkpoint_entries import STORE_HISTORY
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.stream_system import UnavailableError

RENEWED_SECONDS: Final = 3_600.0
"""So often it is noted how far stores are that stay where they are."""


@dataclass(slots=True)
class RememberedStores:
    """The store history of one app, as one driver knows it."""

    ledger: CheckpointStream
    clock: Callable[[], float] = time.time
    history: StoreHistory = field(init=False)
    written: StoreHistory = field(init=False)  # what others have to know of it
    _restoring: frozenset[str] = field(
        init=False
    )  # tasks whose stores are not, or may not be, at checkpoints
    _restored: Counter[str] = field(default_factory=Counter)  # changelog entries since lanes were bound
    _noted_at: float = float("-inf")

    def __post_init__(self) -> None:
        self.history = self.written = _read(self.ledger)
        self._restoring = frozenset(self.history.places)

    def positions(self, specs: Mapping[str, StoreSpec]) -> StorePositions:
        """The positions of the stores of each task by now, at each location where they lie."""
        now = self.clock()
        return self._renewed({}, specs, now).positions(now)

    def note_bound(
        self, locations: Mapping[str, str | None], tasks: Collection[str], specs: Mapping[str, StoreSpec]
    ) -> None:
        """Note where tasks are from now on, and what they have left elsewhere; the others of `tasks` wait."""
        now = self.clock()
        self.history = self._renewed(locations, specs, now).of_tasks(tasks)
        self._restoring |= locations.keys()
        self._restored.clear()
        self._write(now)

    def note_reports(self, reports: Iterable[TaskReport], specs: Mapping[str, StoreSpec]) -> None:
        """Note which tasks have restored their stores; write when the last one has."""
        before = self._restoring
        if before:
            ready = set()
            for report in reports:
                self._restored[report.task] += report.restored
                if report.status is TaskStatus.COMMITTED:  # which a task is only with its stores
                    ready.add(report.task)
            self._forget_lost_disks(before & ready, specs)
            self._restoring = before - ready
        if (before and not self._restoring) or self.clock() - self._noted_at >= RENEWED_SECONDS:
            self.note_closed(specs)

    def note_closed(self, specs: Mapping[str, StoreSpec]) -> None:
        """Note how far stores are that may not be written to again."""
        now = self.clock()
        self.history = self._renewed({}, specs, now)
        self._write(now)

    def _forget_lost_disks(self, tasks: Iterable[str], specs: Mapping[str, StoreSpec]) -> None:
        """Forget what was left where a task found less than half of what it has left there.

        A little less is usual: what was pending in a store when its executor ended is written by nobody.
        """
        positions = self._checkpoint_positions(specs) if self._restored else {}
        for task in sorted(tasks):
            here, *_ = self.history.places.get(task) or (None,)
            if here is not None and 2 * (positions.get(task, 0) - self._restored[task]) < here.position:
                self.history = self.history.without_location(here.location, here.at)

    def _renewed(
        self, locations: Mapping[str, str | None], specs: Mapping[str, StoreSpec], now: float
    ) -> StoreHistory:
        """The history with the positions of the checkpoints, as far as stores on disk have them."""
        unchanged: dict[str, str | None] = dict.fromkeys(self.history.places)
        positions = self._checkpoint_positions(specs)
        return self.history.with_locations({**unchanged, **locations}, positions, self._restoring, now)

    def _checkpoint_positions(self, specs: Mapping[str, StoreSpec]) -> dict[str, int]:
        """The positions of the stores of tasks that have restored them."""
        on_disk = {name for name, spec in specs.items() if spec.kind is not StoreKind.MEMORY}
        return {
            task: sum(end for name, end in checkpoint.changelogs.items() if name in on_disk)
            for task, checkpoint in self.ledger.of_tasks().items()
        }

    def _write(self, now: float) -> None:
        self._noted_at = now
        locations = {place.location for places in self.history.places.values() for place in places}
        if len(locations) > 1:
            self.written = self.history
            with suppress(UnavailableError):  # it is written another time
                self.ledger.record(STORE_HISTORY, bytes_to_text(pack_store_history(self.history)))


def _read(ledger: CheckpointStream) -> StoreHistory:
    try:
        text = STORE_HISTORY.read(ledger.entries, ledger.stream, str)
        return StoreHistory() if text is None else unpack_store_history(text_to_bytes(text))
    except (StateUnreadableError, UnreadableError):
        return StoreHistory()
