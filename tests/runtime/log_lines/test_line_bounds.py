"""Lines that others can cause are bounded, and every event without a line is counted."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.log_lines.line_bounds import LineBounds

MOST, SECONDS = 3, 10.0


@given(st.lists(st.floats(0, 8), max_size=60))
def test_each_event_has_a_line_or_is_counted_and_no_interval_has_more_lines_than_its_most(
    pauses: list[float],
) -> None:
    bounds, now, lines, left_out = LineBounds(MOST, SECONDS), 0.0, list[float](), 0
    for pause in pauses:
        now += pause
        left_out += bounds.left_out(now)
        if bounds.admits(now):
            lines.append(now)
    left_out += bounds.left_out(now + SECONDS)
    assert len(lines) + left_out == len(pauses)
    for began in lines:
        assert sum(began <= line < began + SECONDS for line in lines) <= 2 * MOST


def test_rare_events_have_a_line_each() -> None:
    bounds = LineBounds(MOST, SECONDS)
    assert all(bounds.admits(number * SECONDS / MOST) for number in range(30))
    assert bounds.left_out(1_000.0) == 0
