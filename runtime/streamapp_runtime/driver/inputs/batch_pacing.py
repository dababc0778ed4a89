"""The begin of the next batch with records: as late as the latency allows, at once where input is left.

A batch costs the same CPU for one record as for some hundreds, so an app with few records has fewer batches
with more in each. A record that comes right after a batch has begun waits for the next one, for its end, and
for the batches of the stages behind it: the time between the starts of two batches that read inputs is the
wanted latency less what all batches take from one such start to the next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LOOK_SECONDS: Final = 0.05
LONGEST_LOOK_SECONDS: Final = 0.5
"""How often at least is looked for records and edits, however long records may wait."""
LONGEST_WAIT_SECONDS: Final = 1.0
"""The same of an app that has nothing to do, where the streams' system tells of records."""
_NEWEST_SHARE: Final = 0.2
"""How much the newest batch says of how long the next one takes."""


@dataclass(slots=True)
class BatchPacing:
    """The pace of the batches so far. Times are seconds."""

    clock: Callable[[], float]
    input_left: bool = False  # the last batch that read inputs could not take all that there was
    _begun: float = float("-inf")  # when the last batch with records began
    _inputs_begun: float = float("-inf")  # when the last one began that read inputs
    _busy: float = 0.0  # what batches have taken since then
    _seconds: float = 0.0  # what they take from one batch that reads inputs to the next, on average
    _seconds_before: float = 0.0  # the same without the batches since the last one began that read inputs

    def note_start(self, begun: float, *, reads_inputs: bool = True) -> None:
        """Note that a batch with records began, of inputs or of the app's own streams alone."""
        self._begun = begun
        if reads_inputs:
            self._inputs_begun, self._busy, self._seconds_before = begun, 0.0, self._seconds

    def note_end(self, ended: float) -> None:
        """Note that it ended by itself."""
        self._busy += ended - self._begun
        share = _NEWEST_SHARE if self._seconds_before else 1.0
        self._seconds = self._seconds_before + share * (self._busy - self._seconds_before)

    def wait_seconds(self, interval: float, latency: float) -> float:
        """The seconds that the next batch with inputs may wait; not for the latency where input is left."""
        apart = 0.0 if self.input_left else latency - self._seconds
        return max(self._inputs_begun + apart - self.clock(), self.wait_for_interval(interval))

    def wait_for_interval(self, interval: float) -> float:
        """The seconds that the next batch with any records has to wait."""
        return max(self._begun + interval - self.clock(), 0.0)

    def look_seconds(self, latency: float) -> float:
        """The seconds that an app that has nothing to read waits until it looks again."""
        return max(latency - self._seconds, LOOK_SECONDS)
