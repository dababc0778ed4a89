import json
from io import BytesIO

import fastavro
import pyarrow as pa
import pytest

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.avro.avro_schema import avro_schema
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.stream_format import UnfitFormatError, open_format

USER = {
    "type": "record",
    "name": "User",
    "fields": [
        {"name": "tier", "type": {"type": "enum", "name": "Tier", "symbols": ["GOLD", "TIN"]}},
        {"name": "user", "type": "string"},
        {"name": "seen", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
    ],
}


def test_bytes_are_the_column_as_they_are() -> None:
    form = open_format("bytes", parse_columns("value BINARY"))
    values = pa.array([b"\xff", b"", None])
    found = form.decode(values)
    assert (found.bad, found.columns.column(0).to_pylist()) == ((), [b"\xff", b"", None])
    assert form.encode(found.columns).to_pylist() == [b"\xff", b"", b""]


def test_a_string_that_is_no_utf8_is_bad() -> None:
    form = open_format("string", parse_columns("line STRING"))
    found = form.decode(pa.array([b"\xc3\xa9", b"\xff", None, b""]))
    assert [(each.index, each.reason) for each in found.bad] == [(1, "the value is no valid UTF-8")]
    assert found.columns.column(0).to_pylist() == ["é", None, None, ""]


def test_avro_of_a_given_schema_is_read_by_the_columns_names() -> None:
    form = open_format(
        "avro",
        parse_columns("user STRING, tier STRING, seen TIMESTAMP, x INT"),
        FormatOptions(json.dumps(USER)),
    )
    value = b"\x02\x06ann\x02\xd0\x0f"
    found = form.decode(pa.array([value, value + b"\0", b"\x02", b"\x04\x00\x00", None]))
    assert [each.index for each in found.bad] == [1, 2, 3]
    assert found.columns.column("user").to_pylist() == ["ann", None, None, None, None]
    assert found.columns.column("seen").cast(pa.int64())[0].as_py() == 1_000_000
    assert form.encode(found.columns.slice(0, 1).drop_columns(["x"])).to_pylist() == [value]


def test_a_schema_of_ones_own_is_what_another_reader_reads() -> None:
    form = open_format("avro", parse_columns("a INT, m MAP<STRING, DOUBLE>"))
    row = {"a": 7, "m": [("x", 0.5)]}
    value = form.encode(pa.RecordBatch.from_pylist([row], schema=form.schema))[0].as_py()
    schema = fastavro.parse_schema(json.loads(json.dumps(avro_schema(form.schema))))
    assert fastavro.schemaless_reader(BytesIO(value), schema, None) == {"a": 7, "m": {"x": 0.5}}


@pytest.mark.parametrize("name", ["json", "avro", "columns"])
def test_a_record_without_a_value_that_must_not_be_null_is_bad(name: str) -> None:
    columns = parse_columns("a INT NOT NULL, b INT")
    form = open_format(name, columns)
    rows = [{"a": 1}, {"b": 1}, {"a": 2}]
    found = form.decode(form.encode(pa.RecordBatch.from_pylist(rows, schema=form.schema)))
    assert [(bad.index, bad.reason) for bad in found.bad] == [(1, "a: is missing or null and must not be")]
    assert found.columns.column(0).to_pylist() == [1, None, 2]


@pytest.mark.parametrize("name", ["avro", "json"])
def test_a_record_in_the_frame_of_a_schema_registry_is_named_as_that(name: str) -> None:
    form = open_format(name, parse_columns("a INT NOT NULL"))
    record = form.encode(pa.RecordBatch.from_pylist([{"a": 7}], schema=form.schema))[0].as_py()
    framed = b"\0\0\0\x01\x11" + record
    (bad,) = form.decode(pa.array([record, framed, None])).bad
    assert bad.index == 1
    assert bad.reason.endswith(
        "; begins as records of a schema registry do (schema id 273), and no registry is asked"
    )


def test_a_row_of_other_columns_is_bad() -> None:
    form = open_format("columns", parse_columns("a INT, b STRING"))
    row = form.encode(pa.RecordBatch.from_pylist([{"a": 1, "b": "x"}], schema=form.schema))[0].as_py()
    found = form.decode(pa.array([row, b"", row[:-1], row + b"x", b"\x09" + row[1:]]))
    assert [bad.index for bad in found.bad] == [1, 2, 3, 4]
    assert found.columns.slice(0, 1).to_pylist() == [{"a": 1, "b": "x"}]


REFUSED = [
    (
        "bytes",
        "value STRING",
        None,
        "the format bytes has one column, the whole value",
        'write "value BINARY"',
    ),
    ("string", "a STRING, b INT", None, "the format string has one column, the whole value", "value STRING"),
    ("json", "a VARIANT", None, "VARIANT cannot be read from records or written to them", "use another type"),
    ("json", "a MAP<ARRAY<INT>, INT>", None, "a map's keys cannot be of type list", "use another type"),
    ("avro", "a MAP<INT, INT>", None, "as Avro, whose maps have texts as keys", "use another type"),
    ("avro", "a INT", "{", "the Avro schema cannot be used: Expecting property name", "fix avroSchema"),
    (
        "xml",
        "a INT",
        None,
        'there is no format "xml"',
        "use json, avro, protobuf, debezium, csv, bytes, string or columns",
    ),
]


@pytest.mark.parametrize(("name", "columns", "schema", "message", "hint"), REFUSED)
def test_a_format_that_cannot_carry_the_columns_is_refused_with_what_would_mend_it(
    name: str, columns: str, schema: str | None, message: str, hint: str
) -> None:
    with pytest.raises(UnfitFormatError) as refused:
        open_format(name, parse_columns(columns), FormatOptions(schema))
    assert message in refused.value.message
    assert hint in refused.value.hint
