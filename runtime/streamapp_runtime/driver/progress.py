"""What a run says of itself: a line per period for people, or JSON for machines."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from streamapp_runtime.driver.loop import Batch


@dataclass(slots=True)
class Totals:
    """All batches so far."""

    batches: int = 0
    rows_in: int = 0
    rows_out: int = 0
    bytes_in: int = 0
    bad: int = 0
    seconds: float = 0.0

    def add(self, batch: Batch) -> None:
        """Count a batch."""
        self.batches += 1
        self.rows_in += batch.rows_in
        self.rows_out += batch.rows_out
        self.bytes_in += batch.bytes_in
        self.bad += batch.bad
        self.seconds += batch.seconds


@dataclass(slots=True)
class Progress:
    """Gathers batches and says a line whenever a period is over."""

    say: Callable[[str], None]
    clock: Callable[[], float]  # seconds
    period: float = 1.0
    as_json: bool = False
    totals: Totals = field(default_factory=Totals)
    _since: Totals = field(default_factory=Totals)
    _begun: float = 0.0

    def batch(self, batch: Batch) -> None:
        """Take note of a batch, and say a line if it is time."""
        self.totals.add(batch)
        self._since.add(batch)
        now = self.clock()
        if now - self._begun >= self.period:
            self.say(self._line(batch, now - self._begun if self._begun else batch.seconds))
            self._since, self._begun = Totals(), now

    def _line(self, batch: Batch, seconds: float) -> str:
        since = self._since
        rate_in, rate_out = since.rows_in / max(seconds, 1e-9), since.rows_out / max(seconds, 1e-9)
        milliseconds = 1000 * since.seconds / since.batches
        if self.as_json:
            facts = {"batch": batch.number, "rowsIn": rate_in, "rowsOut": rate_out, "lag": batch.lag}
            rest = {"batchMs": milliseconds, "restoring": batch.restoring, "bad": self.totals.bad}
            return json.dumps({name: round(value, 1) for name, value in (facts | rest).items()})
        line = f"batch {batch.number:>5}  in {rate_in:>9,.0f}/s  out {rate_out:>9,.0f}/s"
        line += f"  lag {batch.lag:>9,}  batch {milliseconds:>5,.0f} ms"
        line += f"  restoring {batch.restoring}" * bool(batch.restoring)
        return line + f"  bad {self.totals.bad}" * bool(self.totals.bad)
