"""What a standby says of a driver that does not answer is read as it was written, and nothing else is."""

import pytest

from streamapp.protocol.silent_driver import SILENT_DRIVER, SilentDriver, silent_driver_of


def test_what_is_written_is_read() -> None:
    told = SilentDriver("views-driver-2", "views-driver-3")
    assert silent_driver_of({SILENT_DRIVER: told.annotation()}) == told


@pytest.mark.parametrize("text", ["", "/", "views-driver-2", "views-driver-2/", "/views-driver-3"])
def test_what_names_no_two_pods_says_nothing(text: str) -> None:
    assert silent_driver_of({SILENT_DRIVER: text}) is None
    assert silent_driver_of({}) is None
