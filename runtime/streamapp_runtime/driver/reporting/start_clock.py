"""The times at which a driver took the steps of its start."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from streamapp.protocol.start_steps import StartStep


@dataclass(slots=True)
class StartClock:
    """Each step once, when it was taken first."""

    now: Callable[[], float] = time.time
    times: dict[str, float] = field(default_factory=dict)

    def note(self, step: StartStep) -> None:
        """Note that a step is taken."""
        self.times.setdefault(step.value, round(self.now(), 3))
