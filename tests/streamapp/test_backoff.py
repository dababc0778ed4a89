from hypothesis import given
from hypothesis import strategies as st

from streamapp.backoff import Backoff

SECONDS = st.floats(0.001, 1_000)


@given(SECONDS, SECONDS, st.integers(0, 2_000))
def test_a_pause_doubles_with_each_failure_up_to_the_longest(
    first: float, longest: float, failures: int
) -> None:
    expected = first
    for _ in range(min(failures, 100) - 1):
        expected *= 2
    assert Backoff(first, longest).seconds(failures) == (min(expected, longest) if failures else 0)
