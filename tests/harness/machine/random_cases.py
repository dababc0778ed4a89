"""The number of random cases: by the profile of the run, and a share of it where a case takes long."""

from typing import Final

from hypothesis import settings

PROFILES: Final = {"unit": 25, "landing": 100, "nightly": 1_000}
VARIABLE: Final = "TEST_PROFILE"


def load_profile(name: str, *, always_the_same: bool) -> None:
    """Have random tests run as many cases as this profile says, and say how a failure is played again."""
    for profile, examples in PROFILES.items():
        settings.register_profile(
            profile, deadline=None, max_examples=examples, derandomize=always_the_same, print_blob=True
        )
    settings.load_profile(name)


def share(part: float) -> int:
    """This part of the cases of the profile, for a test whose cases start something."""
    return max(1, round(part * settings.default.max_examples))
