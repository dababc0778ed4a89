"""Where tasks were, as it is remembered from one placement to the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, slots=True)
class TaskLocality:
    """Each task's last location and processor. It is worth something only within the run that made it."""

    run_id: str
    locations: Mapping[str, str | None] = field(default_factory=dict)  # task -> where its stores are
    processors: Mapping[str, str] = field(default_factory=dict)  # task -> who ran it

    def within(self, run_id: str) -> Self:
        """What of it counts in this run: everything or nothing, for another run has other state."""
        return self if run_id == self.run_id else type(self)(run_id)
