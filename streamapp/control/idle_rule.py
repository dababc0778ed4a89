"""The time after which a silent one no longer holds the others back."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import floor
from typing import TypeVar

from streamapp.control.control_message import ENDED

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class IdleRule:
    """The rule of silence: idle after `timeout` milliseconds, while a quorum of the others may go on."""

    timeout: int
    quorum: float  # share of all expected that has to be active

    def lowest_active(
        self, reached: Mapping[T, int], heard: Mapping[T, int], expected: int, since: int, now: int
    ) -> int | None:
        """The lowest watermark without the idle; None where nobody may be left out.

        Asked only when the lowest of all does not advance. Who was never heard counts as heard at `since`.
        Who has ended is never idle; but that the others ended does not end who is silent.
        """
        if len(reached) < expected and now - since < self.timeout:
            return None
        active = [
            watermark
            for who, watermark in reached.items()
            if watermark == ENDED or now - heard[who] < self.timeout
        ]
        running = [watermark for watermark in active if watermark != ENDED]
        if not running or len(active) < floor(expected * self.quorum):
            return None
        return min(running)
