"""What is written is read by Python's own JSON reader, which shares nothing with ours."""

import base64
import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.json.json_format import JsonFormat
from tests.harness.engine.typed_values import Rows, rows


@given(made=rows())
def test_another_reader_finds_the_same_values_in_the_same_order(made: Rows) -> None:
    written = JsonFormat(made.columns).encode(made.batch).to_pylist()
    found = [json.loads(value, parse_float=Decimal, parse_constant=Decimal) for value in written]
    wanted = [
        {field.name: plain(row[field.name], field.type) for field in made.batch.schema}
        for row in made.batch.to_pylist()
    ]
    assert [list(row) for row in found] == [list(row) for row in wanted]
    assert alike(found, wanted)


def plain(value: Any, kind: pa.DataType) -> Any:
    """The value as JSON's own types say it."""
    if value is None or not pa.types.is_nested(kind):
        return simple(value, kind)
    if pa.types.is_list(kind):
        return [plain(each, kind.value_type) for each in value]
    if pa.types.is_map(kind):
        return {name(key, kind.key_type): plain(each, kind.item_type) for key, each in value}
    return {field.name: plain(value[field.name], field.type) for field in kind}


def simple(value: Any, kind: pa.DataType) -> Any:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case dt.datetime():
            zone = "Z" if kind.tz else ""
            return value.replace(tzinfo=None).isoformat(timespec="microseconds") + zone
        case dt.date():
            return value.isoformat()
    return value


def name(key: Any, kind: pa.DataType) -> Any:
    text = plain(key, kind)
    return text if isinstance(text, str) else Number(text)


class Number:
    """A number as a name: equal to any text of it."""

    def __init__(self, value: Any) -> None:
        self.value = str(value).lower() if isinstance(value, bool) else value

    def matches(self, text: str) -> bool:
        if isinstance(self.value, str):
            return text == self.value
        return Decimal(text) == self.value or float(text) == self.value


def alike(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        pairs = zip(found.items(), wanted.items(), strict=True)
        return all(
            (k.matches(f) if isinstance(k, Number) else f == k) and alike(v, w) for (f, v), (k, w) in pairs
        )
    if isinstance(wanted, list):
        return all(alike(f, w) for f, w in zip(found, wanted, strict=True))
    if isinstance(wanted, float):
        return math.isnan(found) if math.isnan(wanted) else same_float(found, wanted)
    return type(found) is not float and found == wanted


def same_float(found: Any, wanted: float) -> bool:
    """The text gives the number back, read as one of its width."""
    return wanted in {float(found), pa.scalar(float(found), pa.float32()).as_py()}


def test_a_record_has_its_fields_in_order_and_nulls_are_written() -> None:
    form = JsonFormat(parse_columns("user STRING, n BIGINT, at TIMESTAMP, tags ARRAY<STRING>"))
    noon = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
    rows = [{"user": 'a "b"\\\n', "n": 7, "at": noon, "tags": ["x", None]}, {}]
    assert form.encode(pa.RecordBatch.from_pylist(rows, schema=form.schema)).to_pylist() == [
        rb'{"user":"a \"b\"\\\n","n":7,"at":"2026-01-31T12:00:00.000000Z","tags":["x",null]}',
        b'{"user":null,"n":null,"at":null,"tags":null}',
    ]


def test_names_are_written_so_that_they_are_read_as_the_same() -> None:
    form = JsonFormat(parse_columns('`a "b"` INT, `é.\\` STRUCT<`<>`: INT>'))
    row = {'a "b"': 1, "é.\\": {"<>": 2}}
    value = form.encode(pa.RecordBatch.from_pylist([row], schema=form.schema))
    assert json.loads(value[0].as_py()) == row
    assert form.decode(value).columns.to_pylist() == [row]
