"""Which versions of a durable form are read, and what is said of the others."""

import pytest

from streamapp.format_version import UPGRADE_HINT, VersionRefusal, read_version
from streamapp.spec.reasons import Reason


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_reader_takes_every_version_up_to_its_own(version: int) -> None:
    assert read_version(version, 3, "the form") == version


def test_a_newer_version_is_refused_with_what_to_do() -> None:
    assert read_version(4, 3, "the form") == VersionRefusal(
        Reason.NEWER_FORMAT,
        "the form is written in format 4; this version reads formats 1 to 3",
        UPGRADE_HINT,
    )


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None])
def test_what_is_no_version_is_damage(version: object) -> None:
    refusal = read_version(version, 3, "the form")
    assert isinstance(refusal, VersionRefusal)
    assert refusal.reason is Reason.DAMAGED_DATA
