"""What a record may be like: one value of one column at a time."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.format_options import TimestampForm
from streamapp_runtime.formats.json.json_format import JsonFormat
from streamapp_runtime.formats.record_format import DecodedBatch

NOON = dt.datetime(2026, 1, 31, 12)  # noqa: DTZ001


def read(kind: str, *values: bytes | None) -> DecodedBatch:
    return JsonFormat(parse_columns(f"a {kind}")).decode(pa.array(values, pa.binary()))


READ: list[tuple[str, str, Any]] = [
    ("BIGINT", "9223372036854775807", 2**63 - 1),
    ("BIGINT", "-0", 0),
    ("DOUBLE", "1", 1.0),
    ("DOUBLE", "Infinity", float("inf")),
    ("DECIMAL(5, 2)", "1.5", Decimal("1.50")),
    ("DECIMAL(5, 2)", '"1.5000"', Decimal("1.50")),
    (
        "DECIMAL(38)",
        "12345678901234567890123456789012345678",
        Decimal("12345678901234567890123456789012345678"),
    ),
    ("STRING", r'"\u00e9\ud83d\ude00\u0000"', "é😀\0"),
    ("BINARY", '"AAEC/w=="', b"\0\x01\x02\xff"),
    ("BINARY", '""', b""),
    ("DATE", '"2026-01-31"', dt.date(2026, 1, 31)),
    ("TIMESTAMP", '"2026-01-31T12:00:00Z"', NOON),
    ("TIMESTAMP", '"2026-01-31 12:00"', NOON),
    ("TIMESTAMP", '"2026-01-31T13:30:00+01:30"', NOON),
    ("TIMESTAMP", '"2026-01-31T12:00:00.123Z"', NOON.replace(microsecond=123_000)),
    ("TIMESTAMP", '"2026-01-31T12:00:00.123456789Z"', NOON.replace(microsecond=123_456)),
    ("TIMESTAMP", '"2026-01-31T12:00:00.123456789"', NOON.replace(microsecond=123_456)),
    ("TIMESTAMP", '"2026-01-31"', NOON.replace(hour=0)),
    ("TIMESTAMP_NTZ", '"2026-01-31T12:00:00.123456789"', NOON.replace(microsecond=123_456)),
    ("ARRAY<INT>", "[1, null]", [1, None]),
    ("STRUCT<x: DATE, y: INT>", '{"z": 1, "x": "2026-01-31"}', {"x": dt.date(2026, 1, 31), "y": None}),
    ("MAP<STRING, INT>", '{"x": 1, "y": null}', [("x", 1), ("y", None)]),
    ("MAP<INT, DATE>", '{"7": "2026-01-31"}', [(7, dt.date(2026, 1, 31))]),
    ("FLOAT", "3.4028234e38", 3.4028234663852886e38),
    ("FLOAT", "-Infinity", -float("inf")),
    ("ARRAY<FLOAT>", "[1e38]", [9.999999680285692e37]),
]


@pytest.mark.parametrize(("kind", "text", "wanted"), READ)
def test_a_value_is_read(kind: str, text: str, wanted: Any) -> None:
    found = read(kind, f'{{"b": [NaN, {{}}], "a": {text}, "A": 0}}'.encode())
    assert found.bad == ()
    value = found.columns.column(0).to_pylist()[0]
    assert (value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value) == wanted


REFUSED = [
    ("BIGINT", '"1"', "a: found a string where a number is expected"),
    ("BIGINT", "1.0", "a: 1.0 is no int64"),
    ("BIGINT", "9223372036854775808", "a: 9223372036854775808 is no int64"),
    ("TINYINT", "128", "a: 128 is no int8"),
    ("BOOLEAN", "1", "a: found a number where a boolean is expected"),
    ("STRING", "1", "a: found a number where a string is expected"),
    ("STRING", r'"\ud83d"', "The surrogate pair in string is invalid."),
    ("DOUBLE", '"NaN"', "a: found a string where a number is expected"),
    ("DECIMAL(5, 2)", "1.555", "1.555 has more digits than the DECIMAL"),
    ("DECIMAL(5, 2)", "1000", "a: Decimal value does not fit in precision 5"),
    ("BINARY", '"a=bc"', "a: no base64: a character of another alphabet, or = before the end"),
    ("BINARY", '"abc"', "a: no base64: its length is no multiple of four"),
    ("DATE", '"31.1.2026"', 'a: "31.1.2026" is no date'),
    ("TIMESTAMP", "1769860800000", "a: found a number where a string is expected"),
    ("TIMESTAMP", '"noon"', 'a: "noon" is no timestamp'),
    ("TIMESTAMP_NTZ", '"2026-01-31T12:00:00Z"', 'a: "2026-01-31T12:00:00Z" is no timestamp'),
    ("ARRAY<INT>", "{}", "a: found an object where an array is expected"),
    ("ARRAY<INT>", '["x"]', "a.[]: found a string where a number is expected"),
    ("STRUCT<x: INT>", "[]", "a: found an array where an object is expected"),
    ("MAP<STRING, INT>", '[{"key": "x"}]', "found another value where an object is expected, for a MAP"),
    ("MAP<INT, INT>", '{"x": 1}', "a.[].key: found a string where a number is expected"),
    ("FLOAT", "1e39", "a: 1e+39 is no float"),
    ("ARRAY<FLOAT>", "[1, -1e39]", "a: -1e+39 is no float"),
    ("MAP<STRING, INT>", '{"x": 1, "y": 2, "x": 2}', "a: a MAP has the key 'x' twice"),
    ("MAP<DOUBLE, INT>", '{"1": 1, "1.0": 2}', "a: a MAP has the key 1.0 twice"),
    ("MAP<INT, INT>", '{"1": 1, "01": 1}', "a.[].key: found a string where a number is expected"),
    ("BIGINT NOT NULL", "null", "a: is missing or null and must not be"),
    ("BIGINT", '1, "a": 2', "a: occurs twice"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "reason"), REFUSED)
@pytest.mark.parametrize("beside", [0, 1, 600])
def test_a_value_is_refused_with_the_reason_and_those_beside_it_are_read(
    kind: str, text: str, reason: str, beside: int
) -> None:
    fine = b'{"a": null, "b": 1}'
    if "NOT NULL" in kind:
        fine = b'{"a": 1}'
    found = read(kind, *[fine] * beside, f'{{"a": {text}}}'.encode(), *[fine] * beside)
    assert [each.index for each in found.bad] == [beside]
    if beside == 0:
        assert found.bad[0].reason == reason
    assert found.good().to_pylist() == [True] * beside + [False] + [True] * beside
    assert found.columns.num_rows == 2 * beside + 1


NUMBERS: list[tuple[TimestampForm, str, str, Any]] = [
    ("seconds", "TIMESTAMP", "1769860800", NOON),
    ("milliseconds", "TIMESTAMP", "1769860800123", NOON.replace(microsecond=123_000)),
    ("microseconds", "TIMESTAMP", "1769860800123456", NOON.replace(microsecond=123_456)),
    ("milliseconds", "TIMESTAMP", "-1", dt.datetime(1969, 12, 31, 23, 59, 59, 999_000)),  # noqa: DTZ001
    ("milliseconds", "TIMESTAMP_NTZ", '"2026-01-31T12:00:00"', NOON),
    ("seconds", "TIMESTAMP", "null", None),
]


@pytest.mark.parametrize(("form", "kind", "text", "wanted"), NUMBERS)
def test_a_time_is_a_number_where_the_stream_says_so(
    form: TimestampForm, kind: str, text: str, wanted: Any
) -> None:
    json_format = JsonFormat(parse_columns(f"a {kind}"), form)
    decoded = json_format.decode(pa.array([f'{{"a": {text}}}'.encode()], pa.binary()))
    assert decoded.bad == ()
    (value,) = decoded.columns.column(0).to_pylist()
    assert (value.replace(tzinfo=None) if value is not None else None) == wanted


def test_numbers_stand_for_times_at_any_depth_and_are_written_as_they_were_read() -> None:
    columns = parse_columns("a ARRAY<TIMESTAMP>, s STRUCT<t: TIMESTAMP, n: INT>, m MAP<STRING, TIMESTAMP>")
    value = b'{"a":[1769860800123,null],"s":{"t":-5,"n":1},"m":{"x":0}}'
    json_format = JsonFormat(columns, "milliseconds")
    decoded = json_format.decode(pa.array([value, b'{"a":null,"s":null,"m":null}'], pa.binary()))
    assert decoded.bad == ()
    assert json_format.encode(decoded.columns).to_pylist() == [value, b'{"a":null,"s":null,"m":null}']


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("milliseconds", '"2026-01-31T12:00:00Z"', "a: found a string where a number is expected"),
        ("milliseconds", "1769860800.5", "a: 1769860800.5 is no int64"),
        (
            "seconds",
            "1769860800000",
            "a: 1769860800000 seconds since 1970 are no time in the years 1 to 9999",
        ),
    ],
)
def test_a_number_of_another_unit_is_a_bad_record(form: TimestampForm, text: str, message: str) -> None:
    json_format = JsonFormat(parse_columns("a TIMESTAMP"), form)
    decoded = json_format.decode(pa.array([f'{{"a": {text}}}'.encode(), b'{"a": 1}'], pa.binary()))
    assert [(record.index, record.reason) for record in decoded.bad] == [(0, message)]
