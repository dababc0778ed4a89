"""Lines of `streamapp log write` as records of rows, most of them under a schema registry."""

import json
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest

from streamapp.spec.resource.streams import RecordMetadata, Stream
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.cli.log_commands.log_write import _blocks
from streamapp_runtime.cli.record_input.row_lines import RowLines
from streamapp_runtime.driver.start.writer_schemas import WriterSchemaRefusedError
from streamapp_runtime.formats.format_options import options_of
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.rows.lines import UnusableLineError
from streamapp_runtime.testing.memory_registry import MemoryRegistry


def record(name: str, /, **fields: Any) -> str:
    parts = [{"name": field, "type": kind} for field, kind in fields.items()]
    return json.dumps({"type": "record", "name": name, "fields": parts})


VALUE = record("View", page="string", n=["null", "long"])
KEY = record("Key", user="string")
TENANT = record("Key", tenant="string", id="long")


def stream(key: str | None, **metadata: str) -> Stream:
    columns = "page STRING NOT NULL, n BIGINT"
    of_keys = RecordMetadata(key_format="avro", **metadata) if metadata else None
    form: Any = {"format": "avro", "registry": True, "columns": columns, "key": key, "metadata": of_keys}
    return Stream(name="views", system="main", **form)


BY_USER = stream("user", key_columns="user STRING")
BY_TENANT = stream(None, key_columns="tenant STRING, id BIGINT")


def written(declared: Stream, lines: str, key: str | None = None, form: str = "json") -> pa.RecordBatch:
    """The records of lines under a registry that has schemas 1 of values and 2 of keys."""
    registry = MemoryRegistry()
    registry.register("views-value", VALUE)
    registry.register("views-key", TENANT if declared is BY_TENANT else KEY)
    registered = RowLines.of(declared, registry)
    (batch,) = _blocks(BytesIO(lines.encode()), form, key, None, registered)
    return batch


def records(*arguments: Any, **options: Any) -> list[tuple[bytes | None, bytes | None]]:
    return [(each["key"], each["value"]) for each in written(*arguments, **options).to_pylist()]


def test_a_line_is_written_by_the_newest_schema_with_a_plain_key() -> None:
    lines = '{"page": "/", "n": 7}\n\n{"page": "/b"}\n'
    values = [b"\0\0\0\0\x01\x02/\x02\x0e", b"\0\0\0\0\x01\x04/b\0"]
    assert records(stream("page"), lines, key="page") == [(b"/", values[0]), (b"/b", values[1])]
    assert records(stream(None), "page,n\n/,7\n/b,\n", form="csv") == [(None, each) for each in values]


@pytest.mark.parametrize("form", ["avro", "columns"])
def test_lines_are_rows_where_values_are_no_text(form: Any) -> None:
    columns = "page STRING NOT NULL, n BIGINT"
    declared = Stream(name="views", system="main", format=form, columns=columns, key="page")
    lines = b'{"page": "/", "n": 7}\n{"__key": "/b", "__tombstone": true}\n'
    (batch,) = _blocks(BytesIO(lines), "json", "page", None, RowLines.of(declared, None))
    assert batch.column("key").to_pylist() == [b"/", b"/b"]
    assert batch.column("value")[1].as_py() is None
    read = open_format(form, parse_columns(columns), options_of(declared)).decode(batch.column("value"))
    assert read.columns.to_pylist()[0] == {"page": "/", "n": 7}
    with pytest.raises(UnusableLineError, match=r"line 1: .*no column"):
        list(_blocks(BytesIO(b'{"pag": "/"}\n'), "json", None, None, RowLines.of(declared, None)))


def test_columns_of_keys_are_written_by_their_schema_and_stand_in_the_line() -> None:
    lines = '{"user": "ann", "page": "/"}\n{"page": "/"}\n'
    value = b"\0\0\0\0\x01\x02/\0"
    assert records(BY_USER, lines, key="user") == [(b"\0\0\0\0\x02\x06ann", value), (None, value)]
    lines = '{"tenant": "a", "id": 7, "page": "/"}\n'
    assert records(BY_TENANT, lines) == [(b"\0\0\0\0\x02\x02a\x0e", value)]


def test_fields_of_the_record_are_no_columns_and_one_without_a_value_deletes_its_key() -> None:
    lines = [
        {"__key": "bob", "user": "ann", "page": "/", "__timestamp": 5, "__headers": {"trace": "1"}},
        {"user": "ann", "__tombstone": True},
        {"__key": "cyd", "__tombstone": True},
        {"__key": None, "user": "ann", "page": "/"},
    ]
    batch = written(BY_USER, "".join(f"{json.dumps(line)}\n" for line in lines), key="user")
    keys = [b"\0\0\0\0\x02\x06" + user for user in (b"bob", b"ann", b"cyd")]
    assert batch.column("key").to_pylist() == [*keys, None]
    value = b"\0\0\0\0\x01\x02/\0"
    assert batch.column("value").to_pylist() == [value, None, None, value]
    assert batch.column("timestamp").to_pylist() == [5, None, None, None]
    assert batch.column("headers").to_pylist() == [[{"name": "trace", "value": b"1"}], [], [], []]


@pytest.mark.parametrize(
    ("declared", "line", "fault"),
    [
        (BY_USER, {"user": "ann", "page": "/", "pagee": "/"}, "line 3: pagee"),
        (BY_USER, {"user": "ann"}, "line 3: page: is missing or null and must not be"),
        (BY_USER, {"user": "ann", "page": "/", "n": "x"}, "line 3: n"),
        (BY_TENANT, {"__key": "a", "page": "/"}, "line 3: keys are made of columns, and __key says none"),
        (BY_TENANT, {"tenant": "a", "page": "/"}, "line 3: a row does not fit the Avro schema: "),
    ],
)
def test_a_line_that_is_no_row_is_refused_by_its_number(
    declared: Stream, line: dict[str, Any], fault: str
) -> None:
    good = {"page": "/", **({"tenant": "a", "id": 1} if declared is BY_TENANT else {"user": "ann"})}
    with pytest.raises(UnusableLineError) as refused:
        written(declared, f"{json.dumps(good)}\n\n{json.dumps(line)}\n")
    assert str(refused.value).startswith(fault)


def test_no_schema_is_registered_unless_the_stream_says_so() -> None:
    registry = MemoryRegistry()
    with pytest.raises(WriterSchemaRefusedError) as refused:
        RowLines.of(BY_USER, registry)
    assert str(refused.value) == (
        'rows cannot be written to "views": the subject "views-value" has no schema; register one, or say '
        'autoRegister: true; keys cannot be written to "views": the subject "views-key" has no schema; '
        "register one, or say autoRegister: true"
    )
    assert (registry.newest("views-value"), registry.newest("views-key")) == (None, None)


TABLE = json.loads(record("Value", id="long", name=["null", "string"]))
ENVELOPE = record(
    "Envelope", before=["null", TABLE], after=["null", "Value"], op="string", ts_ms=["null", "long"]
)


def written_changes(lines: list[dict[str, Any]], *, with_keys: bool, **more: Any) -> pa.RecordBatch:
    """The records of changes under a registry that has schemas 1 of values and 2 of keys."""
    fields: Any = {"format": "debezium", "registry": True, "columns": "id BIGINT, name STRING", "key": "id"}
    registry = MemoryRegistry()
    registry.register("views-value", more.pop("schema", ENVELOPE))
    if with_keys:
        registry.register("views-key", record("Key", id="long"))
    registered = RowLines.of(Stream(name="views", system="main", **fields, **more), registry)
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (batch,) = _blocks(BytesIO(text.encode()), "json", None, None, registered)
    return batch


@pytest.mark.parametrize("with_keys", [True, False])
def test_a_line_is_a_change_with_the_key_of_its_row(with_keys: bool) -> None:
    lines = [
        {"before": None, "after": {"id": 7, "name": "Ann"}, "op": "c", "source": {"lsn": 5}, "ts_ms": 6},
        {"before": {"id": 7}, "after": None, "op": "d"},
        {"__key": "7", "__tombstone": True},
        {"__key": "8", "after": {"id": 7}, "op": "u"},
    ]
    batch = written_changes(lines, with_keys=with_keys)
    frame, of_keys = b"\0\0\0\0\x01", [7, 7, 7, 8]
    assert batch.column("key").to_pylist() == [
        b"\0\0\0\0\x02" + bytes([2 * key]) if with_keys else str(key).encode() for key in of_keys
    ]
    assert batch.column("value").to_pylist() == [
        frame + b"\0\x02\x0e\x02\x06Ann\x02c\0",
        frame + b"\x02\x0e\0\0\x02d\0",
        None,
        frame + b"\0\x02\x0e\0\x02u\0",
    ]


def test_a_flattened_change_is_the_row_itself() -> None:
    flat = record("Flat", id="long", name=["null", "string"], __deleted=["null", "string"])
    lines = [{"id": 7, "name": "Ann"}, {"id": 7, "__deleted": "true"}]
    batch = written_changes(lines, with_keys=False, flattened=True, schema=flat)
    assert batch.column("key").to_pylist() == [b"7", b"7"]
    assert batch.column("value").to_pylist() == [
        b"\0\0\0\0\x01\x0e\x02\x06Ann\0",
        b"\0\0\0\0\x01\x0e\0\x02\x08true",
    ]


def test_a_line_that_is_no_change_is_refused_by_its_number() -> None:
    good = {"after": {"id": 7}, "op": "c"}
    for line, fault in (
        ({"id": 7}, "line 2: op: is missing or null and must not be"),
        (
            {"after": {"name": "Ann"}, "op": "c"},
            "line 2: after.id: it is null, and must not be by the schema",
        ),
    ):
        with pytest.raises(UnusableLineError) as refused:
            written_changes([good, line], with_keys=False)
        assert str(refused.value).startswith(fault)
