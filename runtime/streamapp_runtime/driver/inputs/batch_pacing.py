"""When the next batch with records begins: as late as the wanted latency allows, at once where input is left.

A batch costs the same CPU for one record as for some hundreds, so an app with few records has fewer batches
with more in each. A record that comes right after a batch has begun waits for the next one and for its end:
the time between the starts of two batches is the wanted latency less what a batch takes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LOOK_SECONDS: Final = 0.05
LONGEST_LOOK_SECONDS: Final = 0.5
"""How often at least is looked for records, edits and signals, however long records may wait."""
_NEWEST_SHARE: Final = 0.2
"""How much the newest batch says of how long the next one takes."""


@dataclass(slots=True)
class BatchPacing:
    """What is known of the batches so far. Times are seconds."""

    clock: Callable[[], float]
    input_left: bool = False  # the last batch could not take all that there was
    _begun: float = float("-inf")  # when the last batch with records began
    _seconds: float = 0.0  # what batches with records take

    def note_start(self, begun: float) -> None:
        """Note that a batch with records began."""
        self._begun = begun

    def note_end(self, ended: float) -> None:
        """Note that it ended by itself."""
        newest = ended - self._begun
        share = _NEWEST_SHARE if self._seconds else 1.0
        self._seconds += share * (newest - self._seconds)

    def wait_seconds(self, interval: float, latency: float) -> float:
        """How long the next batch with records may wait; not for the latency where input is left."""
        apart = max(interval, 0.0 if self.input_left else latency - self._seconds)
        return max(self._begun + apart - self.clock(), 0.0)

    def look_seconds(self, latency: float) -> float:
        """How long an app that has nothing to read waits until it looks again."""
        return max(latency - self._seconds, LOOK_SECONDS)
