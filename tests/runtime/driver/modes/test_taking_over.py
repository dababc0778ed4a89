"""When a standby driver takes over, and when it ends."""

import pytest

from streamapp_runtime.driver.modes.managed import takes_over
from streamapp_runtime.driver.modes.stop_signal import StoppedError


def test_a_standby_waits_until_its_own_number_is_wanted() -> None:
    assert [takes_over(3, wanted) for wanted in (0, 2, 3)] == [False, False, True]


def test_a_standby_that_was_given_up_ends_when_a_later_driver_is_wanted() -> None:
    with pytest.raises(StoppedError):
        takes_over(3, 4)
