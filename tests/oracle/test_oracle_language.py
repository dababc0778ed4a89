"""What random apps know of the language is all that the product takes, or is listed with a reason."""

from tests.oracle.cases.data_generator import random_case
from tests.oracle.language import NOT_GENERATED, is_left_out, language, used

CASES = 400


def test_random_apps_use_every_option_format_and_type_that_is_not_listed_with_a_reason() -> None:
    words, in_cases = language(), used(map(random_case, range(CASES)))
    assert sorted(path for path in words - in_cases if not is_left_out(path)) == []
    assert sorted(path for path in in_cases if path not in words) == []


def test_what_is_listed_as_left_out_exists() -> None:
    words = language()
    assert [
        path for path in NOT_GENERATED if not any(w == path or w.startswith(f"{path}.") for w in words)
    ] == []
