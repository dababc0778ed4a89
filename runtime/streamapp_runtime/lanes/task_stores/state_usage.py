"""The state that a worker holds, its memory, and the room that is left, looked up as seldom as needed."""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from socket import gethostname
from typing import Final

from streamapp_runtime.lanes.protocol.lane_levels import (
    MEMORY_BYTES,
    STATE_BYTES,
    STATE_ENTRIES,
    VOLUME_BYTES,
    VOLUME_FREE,
)
from streamapp_runtime.process_memory import resident_bytes
from streamapp_runtime.stores.store import Store, StoreError

FRESH_SECONDS: Final = 1.0
MOST_SHARE: Final = 0.005
"""Of the time at most is spent on looking: a worker with many stores looks less often."""
SHORT_SHARE: Final = 0.05
"""Where less of a volume is free, a store without room is the volume's fault."""
_MIB: Final = 2**20


@dataclass(slots=True)
class StateUsage:
    """The entries and bytes of a worker's stores by table, its memory, and the room left on their volume."""

    root: Path
    clock: Callable[[], float] = time.monotonic
    _fresh_until: float = field(default=float("-inf"), init=False)

    def levels(self, stores: Iterable[tuple[str, Store]]) -> Iterator[tuple[str, str, int]]:
        """By level and table, of stores by their table; nothing where the last look is still fresh."""
        begun = self.clock()
        if begun < self._fresh_until:
            return
        entries, sizes = Counter[str](), Counter[str]()
        for table, store in stores:
            try:
                entries[table] += store.count()
                sizes[table] += store.size_bytes()
            except (StoreError, OSError):
                continue  # whoever needs the store reports what is wrong with it
        ended = self.clock()
        self._fresh_until = ended + max(FRESH_SECONDS, (ended - begun) / MOST_SHARE)
        for level, numbers in ((STATE_ENTRIES, entries), (STATE_BYTES, sizes)):
            yield from ((level, table, number) for table, number in numbers.items())
        yield MEMORY_BYTES, "", resident_bytes()
        if sizes:
            volume = shutil.disk_usage(self.root)
            yield VOLUME_FREE, "", volume.free
            yield VOLUME_BYTES, "", volume.total


def full_store_message(message: str, processor: str, root: Path) -> str:
    """The report of a processor about a store without room: the machine, and the room of its volume."""
    volume = shutil.disk_usage(root)
    room = f"{volume.free / _MIB:,.0f} of {volume.total / _MIB:,.0f} MiB of the volume of {root} are free"
    mend = "; enlarge the volume" if volume.free < volume.total * SHORT_SHARE else ""
    return f"{processor} on {gethostname()}: {message}; {room}{mend}"
