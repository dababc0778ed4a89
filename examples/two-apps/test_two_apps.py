"""Two apps, each tested by itself, and then the second on what the first has written."""

from collections.abc import Callable
from pathlib import Path

from streamapp.testing import TestApp

FIRST, SECOND = (Path(__file__).with_name(f"{name}.yaml") for name in ("per-minute", "alarms"))


def reading(time: str, watts: int) -> dict[str, object]:
    return {"meter": "m1", "watts": watts, "ts": f"2026-01-01T12:{time}Z"}


def test_the_first_writes_what_a_meter_used_by_the_minute(streamapp: Callable[..., TestApp]) -> None:
    first = streamapp(FIRST)
    first.send("readings", [reading("00:10", 900), reading("00:20", 2_400), reading("01:30", 100)])
    assert [(row["meter"], row["watts"]) for row in first.rows("minutes")] == [("m1", 2_400)]


def test_the_second_reports_minutes_above_the_limit(streamapp: Callable[..., TestApp]) -> None:
    second = streamapp(SECOND)
    second.send("limits", {"meter": "m1", "most": 2_000})
    for watts in (2_000, 2_001):
        second.send("minutes", {"meter": "m1", "watts": watts, "window_end": "2026-01-01T12:01Z"})
    assert [row["watts"] for row in second.rows("alarms")] == [2_001]


def test_the_second_reads_the_rows_of_the_first(streamapp: Callable[..., TestApp]) -> None:
    first, second = streamapp(FIRST), streamapp(SECOND)
    second.send("limits", {"meter": "m1", "most": 2_000})
    first.send("readings", [reading("00:20", 2_400), reading("01:30", 100)])
    second.send("minutes", first.rows("minutes"))
    assert [(row["meter"], row["watts"]) for row in second.rows("alarms")] == [("m1", 2_400)]
    assert (first.spark_reasons, second.spark_reasons) == ((), ())
