"""Snapshots of the state that services read a page at a time: which are open, and until when."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from streamapp_runtime.driver.state_queries.state_lookup_request import QueryRefusedError, StateLookup

MOST_SNAPSHOTS: Final = 8
"""So many are open at a time: each costs a look-up for each key that is written while it is."""
IDLE_SECONDS: Final = 30.0
"""One of which no page was asked for so long is let go."""


class SnapshotEndedError(Exception):
    """A snapshot cannot be read any more: why. A new one can be asked for."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the snapshot no longer exists, begin the scan again: {why}")


class TooManySnapshotsError(Exception):
    """No other snapshot can be opened now."""


@dataclass(slots=True)
class _OpenSnapshot:
    number: int
    table: str
    prefix: bytes
    used: float  # when a page was asked for last


@dataclass(slots=True)
class OpenSnapshots:
    """By their names. A name is of one driver: that of a former one is unknown here."""

    clock: Callable[[], float]  # seconds
    _open: dict[str, _OpenSnapshot] = field(default_factory=dict)
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def number(self, lookup: StateLookup) -> int:
        """The number under which lanes know the snapshot that a look-up is about; 0 where it is about none.

        SnapshotEndedError, TooManySnapshotsError, or QueryRefusedError for a page of another scan.
        """
        if not lookup.snapshot:
            return 0
        self._drop_idle()
        if lookup.begins:
            if len(self._open) >= MOST_SNAPSHOTS:
                raise TooManySnapshotsError(f"{MOST_SNAPSHOTS} snapshots are being read already")
            made = _OpenSnapshot(next(self._numbers), lookup.table, lookup.prefix, self.clock())
            self._open[lookup.snapshot] = made
            return made.number
        known = self._open.get(lookup.snapshot)
        if known is None:
            raise SnapshotEndedError(
                f"it has ended, was not read for {IDLE_SECONDS:g} s, or is of another driver or job model"
            )
        if (known.table, known.prefix) != (lookup.table, lookup.prefix):
            raise QueryRefusedError("the snapshot is of another table or prefix; ask for one of this")
        known.used = self.clock()
        return known.number

    def end(self, name: str) -> None:
        """Let go of a snapshot."""
        self._open.pop(name, None)

    def clear(self) -> None:
        """Let go of all."""
        self._open.clear()

    def numbers(self) -> tuple[int, ...]:
        """Those that lanes have to keep."""
        if self._open:
            self._drop_idle()
        return tuple(snapshot.number for snapshot in self._open.values())

    def _drop_idle(self) -> None:
        oldest = self.clock() - IDLE_SECONDS
        for name in [name for name, snapshot in self._open.items() if snapshot.used < oldest]:
            del self._open[name]
