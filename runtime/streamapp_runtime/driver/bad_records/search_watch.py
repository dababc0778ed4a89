"""The time limit of a search for bad records, its progress messages, and the errors that end it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.operators.stateless.stream_operations import declared_stream

SEARCH_SECONDS: Final = 600.0
"""So long a search may take; its last trial is not cut short."""
NOTE_SECONDS: Final = 10.0
"""So often it says how far it is."""


class SearchTimeoutError(Exception):
    """The time of a search is over."""


class SearchStoppedError(Exception):
    """The run is to stop, and with it the search."""


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """The progress of a search."""

    suspects: int = 0  # records of the batch that failed
    streams: tuple[str, ...] = ()
    trials: int = 0
    tried: int = 0  # records of the last trial
    blamed: int = 0
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The message about the progress."""
        among = f"among {self.suspects:,} of {', '.join(self.streams)}"
        if not self.trials:
            return f"a batch fails again and again: bad records are searched for {among}"
        return (
            f"bad records are searched for {among}: {self.blamed:,} found in {self.seconds:.0f} s, "
            f"trial {self.trials} has {self.tried:,} records"
        )


@dataclass(slots=True)
class SearchWatch:
    """Looks at a search before each of its trials."""

    clock: Callable[[], float]  # seconds
    is_stopped: Callable[[], bool] = lambda: False
    note: Callable[[SearchProgress], None] = lambda _: None
    _begun: float = 0.0
    _noted: float = 0.0
    _progress: SearchProgress = field(default_factory=SearchProgress)

    def begin(self, suspects: Sequence[PendingRange]) -> None:
        """Say that a search among these records begins."""
        self._begun = self._noted = self.clock()
        streams = tuple(sorted({declared_stream(one.partition.stream) for one in suspects}))
        self._progress = SearchProgress(_records(suspects), streams)
        self.note(self._progress)

    def before_trial(self, ranges: Sequence[PendingRange], blamed: int) -> None:
        """Say from time to time how far it is; an error where it is not to go on.

        `blamed`: so many records were found so far.
        """
        if self.is_stopped():
            raise SearchStoppedError
        now, trials = self.clock(), self._progress.trials
        self._progress = replace(
            self._progress,
            trials=trials + 1,
            tried=_records(ranges),
            blamed=blamed,
            seconds=now - self._begun,
        )
        if self._progress.seconds > SEARCH_SECONDS:
            raise SearchTimeoutError(f"no more than {SEARCH_SECONDS:.0f} s are spent: {self._progress.text}")
        if now - self._noted >= NOTE_SECONDS:
            self._noted = now
            self.note(self._progress)


def _records(ranges: Sequence[PendingRange]) -> int:
    return sum(one.lag for one in ranges)
