"""Tests that need what this machine lacks are left out, and fail where they have to run: in CI."""

import os
import time
from collections.abc import Mapping
from typing import NoReturn

import pytest

LAST_START = "CI_LAST_START"
"""Names the second, since 1970 began, after which a landing begins no further test that starts something."""


def must_run() -> bool:
    """Whether a test that is left out is a failure here."""
    return bool(os.environ.get("CI"))


def leave_out(missing: str) -> NoReturn:
    """Leave out the test that needs this."""
    if must_run():
        pytest.fail(missing)
    pytest.skip(missing)


def is_too_late(environment: Mapping[str, str]) -> bool:
    """True if the machine was so slow that the landing has no time left for further tests."""
    return time.time() > float(environment.get(LAST_START) or "inf")
