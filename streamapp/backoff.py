"""The pause before something that failed is tried again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """A pause that is twice as long after each failure in a row, up to the longest."""

    first: float  # seconds
    longest: float

    def seconds(self, failures: int) -> float:
        """The pause after so many failures in a row; none where nothing has failed."""
        return min(self.longest, self.first * 2.0 ** min(failures - 1, 60)) if failures else 0.0
