"""The locality of tasks that is remembered from one placement to the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, slots=True)
class TaskLocality:
    """Each task's last location and processor, valid only within the run that recorded it."""

    run_id: str
    locations: Mapping[str, str | None] = field(default_factory=dict)  # task -> where its stores are
    processors: Mapping[str, str] = field(default_factory=dict)  # task -> who ran it

    def within(self, run_id: str) -> Self:
        """The locality as far as it is valid in a run: all of it or none, for another run has other state."""
        return self if run_id == self.run_id else type(self)(run_id)
