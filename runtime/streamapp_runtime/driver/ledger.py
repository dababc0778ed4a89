"""The driver's side of the checkpoint stream: incarnations, the layout, the checkpoints of all tasks."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.tasks.layout import Layout
from streamapp.tasks.layout_codec import decode, encode
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.checkpoint import DRIVER, Checkpoint
from streamapp_runtime.systems.system import FencedError, StreamOptions, System

LAYOUT = b"\x00layout"
"""The key of the layout: what decides which task holds the state of which keys lies with the checkpoints."""


class LayoutUnreadableError(Exception):
    """The layout cannot be read; going on could part keys from their state."""


@dataclass(slots=True)
class Ledger:
    """One app's checkpoint stream, as one driver sees it."""

    system: System
    stream: str
    run_id: str = ""
    incarnation: int = 0
    layout: Layout | None = None
    checkpoints: dict[str, str] = field(default_factory=dict)  # by task, as they were written

    def open(self, new_run: str) -> None:
        """Take over: from here on nothing of an earlier driver commits. What it had committed is read."""
        self.system.create(self.stream, 1, StreamOptions(compacted=True))
        known = _driver(self.system.latest(self.stream))
        self.run_id = str(known.get("run") or new_run)
        self._begin(int(known.get("incarnation", 0)) + 1)

    def raise_incarnation(self) -> None:
        """Fence everything before, and read what it committed. FencedError when another driver is ahead."""
        found = int(_driver(self.system.latest(self.stream)).get("incarnation", 0))
        if found > self.incarnation:
            raise FencedError(f"another driver has taken over as incarnation {found}")
        self._begin(self.incarnation + 1)

    def _begin(self, incarnation: int) -> None:
        self.incarnation = incarnation
        self.system.fence(self.stream, self.incarnation)
        self._put({DRIVER: json.dumps({"run": self.run_id, "incarnation": self.incarnation}).encode()})
        self._read()

    def remember(self, layout: Layout) -> None:
        """Write the layout, before any state that rests on it."""
        if layout != self.layout:
            self._put({LAYOUT: encode(layout).encode()})
            self.layout = layout

    def positions(self) -> dict[Partition, int]:
        """The next record of every partition, whichever task read it last."""
        found: dict[Partition, int] = {}
        for text in self.checkpoints.values():
            for partition, position in Checkpoint.decode(text.encode()).positions.items():
                found[partition] = max(position, found.get(partition, 0))
        return found

    def _put(self, entries: Mapping[bytes, bytes]) -> None:
        transaction = self.system.begin(self.stream, self.incarnation)
        for key, value in entries.items():
            transaction.put(self.stream, key, value)
        transaction.commit()

    def _read(self) -> None:
        found = self.system.latest(self.stream)
        if LAYOUT in found:
            layout = decode(found[LAYOUT].decode())
            if isinstance(layout, Refusal):
                raise LayoutUnreadableError(f"{layout.message}; {layout.hint}")
            self.layout = layout
        tasks = {key: value for key, value in found.items() if not key.startswith(b"\x00")}
        self.checkpoints = {key.decode(): value.decode() for key, value in tasks.items()}


def _driver(latest: Mapping[bytes, bytes]) -> dict[str, int | str]:
    found: dict[str, int | str] = json.loads(latest[DRIVER]) if DRIVER in latest else {}
    return found
