"""Lines of CSV beside Python's own reader and writer of CSV."""

import csv
from io import StringIO
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp.spec.resource.streams import CsvSigns
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.record_format import DecodedBatch, RecordFormat
from streamapp_runtime.formats.stream_format import UnfitFormatError, open_format
from tests.harness.engine.typed_values import FLAT, Rows, rows, shown
from tests.harness.machine.random_cases import share

SIGNS = [
    CsvSigns(),
    CsvSigns(delimiter="|", quote="'", null_text="\\N"),
    CsvSigns(delimiter="\t", null_text="null"),
]
TEXTS = st.text("ab,|\t\"'\n\r \\N€\0", max_size=6) | st.sampled_from(["null", "\\N", ""])


def form(columns: str, signs: CsvSigns = SIGNS[0]) -> RecordFormat:
    return open_format("csv", parse_columns(columns), FormatOptions(csv=signs))


def decoded(columns: str, *lines: bytes | None, signs: CsvSigns = SIGNS[0]) -> DecodedBatch:
    return form(columns, signs).decode(pa.array(lines, pa.binary()))


def reasons(batch: DecodedBatch) -> dict[int, str]:
    return {bad.index: bad.reason for bad in batch.bad}


def test_fields_are_columns_in_their_order() -> None:
    columns = "a INT, b STRING, c DOUBLE, d DATE, e TIMESTAMP, f DECIMAL(5, 2), g BOOLEAN, h BINARY"
    line = b'7,"x, ""y""",-1.5e3,2026-01-31,2026-01-31T12:00:00Z,1.50,true,AQI='
    batch = decoded(columns, line, None, b",,,,,,,", b',"",,,,,,')
    assert batch.bad == ()
    first, second, third, fourth = batch.columns.to_pylist()
    assert (first["a"], first["b"], first["c"], first["g"], first["h"]) == (
        7,
        'x, "y"',
        -1500.0,
        True,
        b"\x01\x02",
    )
    assert form(columns).encode(batch.columns.slice(0, 1)).to_pylist() == [
        b'7,"x, ""y""",-1500,2026-01-31,2026-01-31T12:00:00.000000Z,1.50,true,AQI='
    ]
    assert second == third == dict.fromkeys(first)
    assert fourth["b"] == ""


def test_a_bad_line_is_bad_by_itself() -> None:
    batch = decoded(
        "a INT NOT NULL, b STRING",
        b"1,x",
        b"2",
        b"3,x,y",
        b"x,y",
        b",y",
        b'4,"y',
        b"5,\xff",
        b"6,x\n7,y",
        b'8,"x\ny"\r\n',
        b"",
        b'9,"y"",z',
        b"10,z",
    )
    fault = "no line of CSV: a quote is not closed, or there is more than one line"
    assert reasons(batch) == {
        1: "1 fields where 2 are expected",
        2: "3 fields where 2 are expected",
        3: 'a: "x" is no INT',
        4: "a: is missing or null and must not be",
        5: fault,
        6: "the value is no valid UTF-8",
        7: fault,
        9: "an empty line where 2 fields are expected",
        10: fault,
    }
    good = [row for row in batch.columns.to_pylist() if row["a"] is not None]
    assert good == [{"a": 1, "b": "x"}, {"a": 8, "b": "x\ny"}, {"a": 10, "b": "z"}]


def test_a_quote_that_swallows_a_line_is_seen_where_another_record_has_two() -> None:
    batch = decoded("a STRING, b STRING", b"1,a\n2,b", b'3,"x', b'y"')
    assert sorted(reasons(batch)) == [0, 1, 2]
    assert batch.columns.to_pylist() == [{"a": None, "b": None}] * 3


@settings(max_examples=share(1))
@given(lines=st.lists(st.none() | st.text('a1,"\n\r ', max_size=6), max_size=8))
def test_a_line_fares_the_same_whatever_stands_beside_it(lines: list[str | None]) -> None:
    values = [None if line is None else line.encode() for line in lines]
    batch = decoded("a STRING, b INT", *values)
    alone = [decoded("a STRING, b INT", value) for value in values]
    assert batch.columns.to_pylist() == [row for one in alone for row in one.columns.to_pylist()]
    assert sorted(reasons(batch)) == [place for place, one in enumerate(alone) if one.bad]


@settings(max_examples=share(1))
@given(
    made=st.lists(st.lists(st.none() | TEXTS, min_size=3, max_size=3), max_size=8),
    signs=st.sampled_from(SIGNS),
)
def test_texts_are_written_and_read_as_python_does(made: list[list[str | None]], signs: CsvSigns) -> None:
    encoder = form("a STRING, b STRING, c STRING", signs)
    batch = pa.RecordBatch.from_arrays(
        [pa.array([row[place] for row in made], pa.string()) for place in range(3)], schema=encoder.schema
    )
    lines = encoder.encode(batch)
    options: dict[str, Any] = {"delimiter": signs.delimiter, "quotechar": signs.quote}
    for line, row in zip(lines.to_pylist(), made, strict=True):
        (fields,) = csv.reader(StringIO(line.decode(), newline=""), **options)
        assert fields == [signs.null_text if text is None else text for text in row]
    assert encoder.decode(lines).columns.to_pylist() == batch.to_pylist()
    quoted = StringIO(newline="")
    for row in made:
        # In quotes no field is null.
        csv.writer(quoted, quoting=csv.QUOTE_ALL, lineterminator="\0\0\0", **options).writerow(
            [text or "" for text in row]
        )
    written = [line.encode() for line in quoted.getvalue().split("\0\0\0")[:-1]]
    if len(written) == len(made):  # a text may have the terminator in it
        expected = [dict(zip("abc", [text or "" for text in row], strict=True)) for row in made]
        assert encoder.decode(pa.array(written, pa.binary())).columns.to_pylist() == expected


@settings(max_examples=share(1))
@given(made=rows(FLAT), signs=st.sampled_from(SIGNS))
def test_rows_of_any_flat_columns_come_back_as_they_were(made: Rows, signs: CsvSigns) -> None:
    if any(pa.types.is_nested(kind) for kind in made.batch.schema.types):
        return
    encoder = open_format("csv", made.columns, FormatOptions(csv=signs))
    found = encoder.decode(encoder.encode(made.batch))
    assert found.bad == ()
    assert shown(found.columns) == shown(made.batch)


@pytest.mark.parametrize("values", [[], [None], [None, None]])
def test_a_null_value_is_a_row_of_nulls(values: list[None]) -> None:
    batch = decoded("a INT NOT NULL, b STRING", *values)
    assert (batch.bad, batch.columns.to_pylist()) == ((), [{"a": None, "b": None}] * len(values))


def test_columns_with_parts_are_refused() -> None:
    with pytest.raises(UnfitFormatError, match="CSV has no place for the parts of b; use another type"):
        form("a INT, b ARRAY<INT>")
