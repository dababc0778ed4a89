from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.control_message import EARLIEST, ENDED
from streamapp.control.source_watermark import is_late, source_watermark

BATCHES = st.lists(st.lists(st.none() | st.integers(EARLIEST, ENDED), max_size=5), max_size=8)


def test_the_watermark_stays_behind_the_newest_event_by_the_delay() -> None:
    assert source_watermark(None, 100, 5) == 95
    assert source_watermark(95, 99, 5) == 95
    assert source_watermark(95, 103, 5) == 98


def test_a_batch_without_event_times_leaves_the_watermark() -> None:
    assert source_watermark(None, None, 5) is None
    assert source_watermark(7, None, 5) == 7


def test_only_an_event_before_the_watermark_is_late() -> None:
    assert is_late(94, 95)
    assert not is_late(95, 95)
    assert not is_late(EARLIEST, None)


def test_no_event_time_ends_a_stream() -> None:
    assert source_watermark(None, ENDED, 0) == ENDED - 1
    assert source_watermark(ENDED, 5, 0) == ENDED


@given(BATCHES, st.integers(0, 2**40))
def test_it_is_the_newest_of_all_events_less_the_delay(batches: list[list[int | None]], delay: int) -> None:
    watermark = None
    seen: list[int] = []
    for batch in batches:
        times = [time for time in batch if time is not None]
        seen += times
        watermark = source_watermark(watermark, max(times, default=None), delay)
        expected = max(EARLIEST, min(max(seen) - delay, ENDED - 1)) if seen else None
        assert watermark == expected
