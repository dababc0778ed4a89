"""How often the stores of an app are looked at for their sizes."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from streamapp_runtime.driver.reporting.state_sizes import FRESH_SECONDS, MOST_SHARE, StateSizes


@dataclass(slots=True)
class SlowClock:
    """A clock by which each look takes so long."""

    look: float
    seconds: float = 0.0
    calls: int = 0

    def __call__(self) -> float:
        self.calls += 1
        self.seconds += self.look
        return self.seconds


@pytest.mark.parametrize(("look", "apart"), [(0.001, FRESH_SECONDS), (1.0, 1.0 / MOST_SHARE)])
def test_stores_are_looked_at_no_more_often_than_their_number_allows(
    tmp_path: Path, look: float, apart: float
) -> None:
    clock = SlowClock(look)
    sizes = StateSizes(tmp_path, "shop.app", clock)
    sizes()
    assert clock.calls == 2  # before the look and after it
    clock.seconds += apart - 10 * look
    sizes()
    assert clock.calls == 3  # nothing was looked at
    clock.seconds += 20 * look
    sizes()
    assert clock.calls == 5
