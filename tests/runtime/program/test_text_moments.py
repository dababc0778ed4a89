"""A text is the moment that Spark reads, in whatever zone it is."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from streamapp_runtime.expressions.plain.plain_value import plain_value
from streamapp_runtime.expressions.zones import java_zones
from streamapp_runtime.expressions.zones.java_zones import zone_named
from streamapp_runtime.expressions.zones.zone_rules import ZoneRules
from tests.harness.oracles.spark_values import by_spark, by_worker
from tests.harness.oracles.value_rows import COLUMNS, SCOPE

CASTS = ["CAST(user AS TIMESTAMP)", "CAST(user AS TIMESTAMP_NTZ)"]
DAYS = [
    "2024-02-29",
    "2024-2-9",
    "2024-12",
    "2024",
    "-0001-12-31",
    "+10000-1-1",
    "123456-07-01",
    "1582-10-10",
]
DAYS += [
    "2023-02-29",
    "2024-13-01",
    "0000-01-01",
    "294247-01-10",
    "-290308-12-21",
    "1234567-01-01",
    "999-01-01",
]
CLOCKS = [
    "12",
    "1:2",
    "01:02:03",
    "1:2:3",
    "23:59:59.999999999",
    "04:00:54.775807",
    "19:59:05.224192",
    "24:00",
]
CLOCKS += [
    "12:60",
    "00:00:60",
    "",
    "12:",
    "12:30:",
    "12:30:45.",
    "12:30:45.1",
    "012:00",
    "12:30:045",
    "1:2:3.1234567x",
]
ZONES = [
    "",
    "Z",
    "z",
    " Z",
    "UTC",
    " UTC",
    "utc",
    "GMT",
    "UT",
    "GMT0",
    "+7",
    "+07",
    "-7:30",
    "+07:3",
    "+0730",
    "+073",
]
ZONES += [
    "+07:30:15",
    "+073015",
    "+07:3015",
    "+18:00",
    "-18:01",
    "+19",
    "+07:60",
    "UTC+7",
    "UTC+7:30",
    "GMT-0730",
]
ZONES += ["UT+07:30:15", "UTC+", "UTC7", "EST", "PST", "MST", "HST", "BST", "CST", "EST5EDT", "Europe/Paris"]
ZONES += [
    "  Europe/Paris",
    "europe/paris",
    "Europe/Pariss",
    "America/New_York",
    "Etc/GMT+8",
    "SystemV/PST8",
    "ROC",
    "x",
]
ZONES += ["\u00e9", "+\u0667", "UTC+7:30x", "-7:5", "UTC-7:5", "[Europe/Paris]", "Z Z", "\x7fUTC", "UTC+19"]


def assert_read_as_by_spark(spark: SparkSession, texts: Sequence[str], casts: Sequence[str] = CASTS) -> None:
    rows = [(text, *(None,) * (len(COLUMNS) - 1)) for text in texts]
    for cast, wanted in zip(casts, by_spark(spark, list(casts), rows), strict=True):
        plain = plain_value(cast, SCOPE)
        assert plain is not None
        for text, mine, of_spark in zip(texts, by_worker(plain, rows), wanted, strict=True):
            assert mine == of_spark, (cast, ascii(text))


def test_all_forms_of_a_moment_are_those_of_spark(spark: SparkSession) -> None:
    texts = [
        f"{day}{between}{clock}" for day in DAYS for clock in CLOCKS for between in (" ", "T", "  ", "t")
    ]
    texts += [f"2024-07-01 12:30:45{fraction}{zone}" for zone in ZONES for fraction in ("", ".5", ".", " ")]
    texts += [
        f"{before}2024-07-01 12:30:45{after}"
        for before in ("\t ", "\x7f", "x", "-")
        for after in ("\n", "\x00")
    ]
    texts += [
        *DAYS,
        "",
        " ",
        "now",
        "today",
        "epoch",
        "-",
        "+",
        "T",
        "2024-07-01 T12:00",
        "2024-07-01 12:30Z",
    ]
    assert_read_as_by_spark(spark, texts)


YEARS = (2007, 2026, 2037, 2038, 2039, 2100, 2400, 9999, 50_000)


def _text(local_second: int, zone: str) -> str:
    """A time on the clock of a zone."""
    text = str(np.datetime64(local_second, "s")).replace("T", " ")
    return f"{'+' if text[4].isdigit() else ''}{text} {zone}"


def test_every_zone_of_java_has_its_offsets_around_each_of_its_transitions(spark: SparkSession) -> None:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    names = sorted(jvm.java.time.ZoneId.getAvailableZoneIds())
    texts = [f"2026-07-01 12:00:00 {name}" for name in names]
    zones = {id(zone): (name, zone) for name in names if isinstance(zone := zone_named(name), ZoneRules)}
    for name, zone in zones.values():
        transitions = [*zone.transitions, *(rule.in_year(year) for rule in zone.rules for year in YEARS)]
        marks = {each.instant + offset for each in transitions for offset in (each.before, each.after)}
        texts += [_text(mark + beside, name) for mark in marks for beside in (-1, 0, 1)]
    assert len(zones) > 300
    for start in range(0, len(texts), 40_000):
        assert_read_as_by_spark(spark, texts[start : start + 40_000])


@given(
    st.lists(
        st.from_regex(
            r"\s?[+-]?[0-9]{3,7}(-[0-9]{1,3}){0,2}([ Tx][0-9]{1,2}(:[0-9]{1,2}){0,2}(\.[0-9]{0,10})?)?"
            r"( ?(UTC|GMT|UT)?[+-]?[0-9]{0,2}:?[0-9]{0,2}(:[0-9]{2})?|Z)?\s?",
            fullmatch=True,
        ),
        min_size=1,
        max_size=300,
    )
)
def test_any_text_is_the_moment_that_spark_reads(spark: SparkSession, texts: list[str]) -> None:
    assert_read_as_by_spark(spark, texts)


def test_a_time_without_a_day_is_one_of_today(spark: SparkSession) -> None:
    texts = [
        "12:30",
        "1:2:3.5",
        "T12",
        "T12:30",
        " T12",
        "12:30:00 Pacific/Kiritimati",
        "12:30:00-18",
        "T1:2:3Asia/X",
    ]
    texts += ["T", "12:", "T12:60", "+12:30", "12:30 UTC", "T12:30:00 America/New_York"]
    try:
        assert_read_as_by_spark(spark, texts)
    except AssertionError:  # a day began between the two
        assert_read_as_by_spark(spark, texts)


def test_casts_to_moments_are_left_to_spark_where_its_zones_are_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(java_zones, "_regions", dict)
    assert plain_value(CASTS[0], SCOPE) is None
    assert plain_value("CAST(user AS DATE)", SCOPE) is not None
