"""Changes of Debezium in Avro under a registry, with the types that its converter writes, and their keys."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.arrow_types import arrow_schema, column_list
from streamapp_runtime.formats.debezium.registered_changes import (
    CHANGE_KINDS,
    RegisteredChanges,
    change_writer,
)
from streamapp_runtime.formats.debezium.written_changes import change_columns
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.record_format import DecodedBatch
from streamapp_runtime.formats.schema_difference import schema_columns, schema_difference, stream_columns
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.registered_schema import (
    RegisteredSchema,
    SchemaId,
    UnresolvableSchemaError,
)
from tests.harness.engine.known_schemas import KnownSchemas

TIME = "io.debezium.time"
COLUMNS = (
    "id INT NOT NULL, name STRING, born DATE, at TIMESTAMP_NTZ, exact TIMESTAMP_NTZ, seen TIMESTAMP, "
    "price DECIMAL(9,2), tags ARRAY<STRING>"
)
ROW_FIELDS = [
    ("id", "int"),
    ("name", ["null", "string"]),
    ("born", ["null", {"type": "int", "connect.version": 1, "connect.name": f"{TIME}.Date"}]),
    ("at", ["null", {"type": "long", "connect.version": 1, "connect.name": f"{TIME}.Timestamp"}]),
    ("exact", ["null", {"type": "long", "connect.version": 1, "connect.name": f"{TIME}.MicroTimestamp"}]),
    ("seen", ["null", {"type": "string", "connect.version": 1, "connect.name": f"{TIME}.ZonedTimestamp"}]),
    (
        "price",
        [
            "null",
            {
                "type": "bytes",
                "scale": 2,
                "precision": 9,
                "connect.name": "org.apache.kafka.connect.data.Decimal",
                "logicalType": "decimal",
            },
        ],
    ),
    ("tags", ["null", {"type": "array", "items": ["null", "string"]}]),
]


def record(name: str, *fields: tuple[str, Any]) -> dict[str, Any]:
    parts = [{"name": field, "type": kind} for field, kind in fields]
    return {"type": "record", "name": name, "namespace": "shop.public.customers", "fields": parts}


VALUE = record("Value", *ROW_FIELDS)
ENVELOPE = record(
    "Envelope",
    ("before", ["null", VALUE]),
    ("after", ["null", "Value"]),
    ("source", record("Source", ("version", "string"), ("ts_ms", "long"))),
    ("op", "string"),
    ("ts_ms", ["null", "long"]),
)
FLAT = record("Flat", *ROW_FIELDS, ("__deleted", ["null", "string"]))
KEY, TEXT_KEY, WIDE_KEY = record("Key", ("id", "int")), "int", record("Wide", ("id", "int"), ("shard", "int"))
SCHEMAS: dict[SchemaId, Any] = {1: ENVELOPE, 2: FLAT, 3: KEY, 4: TEXT_KEY, 5: WIDE_KEY, 6: VALUE}


def registry() -> KnownSchemas:
    return KnownSchemas(
        {one: RegisteredSchema("AVRO", json.dumps(schema)) for one, schema in SCHEMAS.items()}
    )


def framed(schema_id: int, value: Any) -> bytes:
    out = BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMAS[schema_id]), value)
    return b"\0" + schema_id.to_bytes(4) + out.getvalue()


def row(number: int, **fields: Any) -> dict[str, Any]:
    return {**dict.fromkeys(name for name, _ in ROW_FIELDS), "id": number, **fields}


def change(op: str, after: Any = None, before: Any = None) -> bytes:
    source = {"version": "3.3", "ts_ms": 5}
    return framed(1, {"before": before, "after": after, "source": source, "op": op, "ts_ms": None})


def changes(columns: str = COLUMNS, **options: Any) -> RegisteredChanges:
    made = FormatOptions(**{"key": "id", "registry": True, **options})
    form = open_format("debezium", parse_columns(columns), made, registry())
    assert isinstance(form, RegisteredChanges)
    return form


def decoded(form: RegisteredChanges, *values: bytes | None) -> DecodedBatch:
    return form.decode(pa.array(values, pa.binary()))


def reasons(batch: DecodedBatch) -> dict[int, str]:
    return {bad.index: bad.reason for bad in batch.bad}


def test_rows_are_written_and_deleted_as_the_ops_say() -> None:
    batch = decoded(
        changes("id INT NOT NULL, name STRING"),
        change("c", row(1, name="Ann")),
        change("d", before=row(2)),
        None,
        change("u", row(3, name="Cyd"), row(3, name="Cy")),
    )
    nothing = {"id": None, "name": None}
    assert batch.bad == ()
    assert batch.columns.to_pylist() == [{"id": 1, "name": "Ann"}, nothing, nothing, {"id": 3, "name": "Cyd"}]
    assert batch.deletions is not None
    assert batch.deletions.rows.to_pylist() == [False, True, False, False]
    assert batch.keys("id").to_pylist() == [b"1", b"2", None, b"3"]


def test_texts_that_are_dates_and_times_are_read_by_their_names() -> None:
    kinds = {"born": "IsoDate", "at": "IsoTimestamp", "seen": "ZonedTimestamp", "tod": "IsoTime"}
    texts = [{"type": "string", "connect.name": f"{TIME}.{kind}"} for kind in kinds.values()]
    schema = record("Iso", *zip(kinds, texts, strict=True))
    columns = parse_columns("born DATE, at TIMESTAMP_NTZ, seen TIMESTAMP, tod STRING")
    lookup = KnownSchemas({1: RegisteredSchema("AVRO", json.dumps(schema))})
    form = open_format("debezium", columns, FormatOptions(registry=True, flattened=True), lookup)
    assert column_list(schema_columns(lookup.schema(1)).columns) == (
        "born DATE, at TIMESTAMP_NTZ, seen TIMESTAMP, tod STRING"
    )
    row_of = ["1969-12-31Z", "2026-01-31T12:00:00.123456Z", "2026-01-31T12:00:00Z", "12:34:56Z"]
    bad = ["yesterday", *row_of[1:]]
    parsed = fastavro.parse_schema(record("Iso", *((name, "string") for name in kinds)))
    values = []
    for texts_of_row in (row_of, bad):
        out = BytesIO()
        parsed = fastavro.parse_schema(
            schema | {"fields": [{"name": name, "type": "string"} for name in kinds]}
        )
        fastavro.schemaless_writer(out, parsed, dict(zip(kinds, texts_of_row, strict=True)))
        values.append(b"\0\0\0\0\x01" + out.getvalue())
    batch = form.decode(pa.array(values, pa.binary()))
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert batch.columns.to_pylist()[0] == {
        "born": date(1969, 12, 31),
        "at": noon.replace(tzinfo=None, microsecond=123456),
        "seen": noon,
        "tod": "12:34:56Z",
    }
    assert [bad.index for bad in batch.bad] == [1]
    assert batch.bad[0].reason == "schema id 1: a text is no date"


def test_a_change_that_is_no_row_costs_no_other_one() -> None:
    unavailable = row(5, name="__debezium_unavailable_value")
    batch = decoded(
        changes("id INT NOT NULL, name STRING"),
        change("t"),
        change("c", row(1, name="Ann")),
        change("c"),
        b"\0\0\0\0\x63",
        b'{"op": "c"}',
        change("r", unavailable),
        framed(6, row(7)),
    )
    assert [each["id"] for each in batch.columns.to_pylist()] == [None, 1, *[None] * 5]
    said = reasons(batch)
    assert said.keys() == {0, 2, 3, 4, 5, 6}
    assert said[0].startswith('op "t": the table was truncated')
    assert said[2] == 'op "c" without a row in "after"'
    assert said[3] == "schema id 99: the registry says: not found"
    assert "REPLICA IDENTITY" in said[5]
    assert said[6].startswith('no change of a row: it has no "op"')


def test_a_flattened_change_is_the_row_itself() -> None:
    batch = decoded(
        changes("id INT NOT NULL, name STRING", flattened=True),
        framed(2, row(1, name="Ann", __deleted="false")),
        framed(2, row(2, name="Bob", __deleted="true")),
        framed(6, row(3, name="Cyd")),
    )
    assert batch.bad == ()
    assert [each["name"] for each in batch.columns.to_pylist()] == ["Ann", None, "Cyd"]
    assert batch.keys("id").to_pylist() == [b"1", b"2", b"3"]


EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))  # noqa: DTZ001
ROWS = st.fixed_dictionaries(
    {
        "id": st.integers(-(2**31), 2**31 - 1),
        "name": st.none() | st.text(st.characters(codec="utf-8"), max_size=5),
        "born": st.none() | st.dates(date(1, 1, 1)),
        "at": st.none() | TIMES.map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000)),
        "exact": st.none() | TIMES,
        "seen": st.none() | TIMES.map(lambda at: at.replace(tzinfo=UTC)),
        "price": st.none() | st.integers(-(10**9) + 1, 10**9 - 1).map(lambda n: Decimal(n).scaleb(-2)),
        "tags": st.none() | st.lists(st.none() | st.text("ab", max_size=2), max_size=3),
    }
)


def as_written(values: dict[str, Any]) -> dict[str, Any]:
    """The row as Debezium's converter has it: numbers since 1970, and texts with a zone."""
    born, at, exact, seen = (values[name] for name in ("born", "at", "exact", "seen"))
    return {
        **values,
        "born": born and (born - EPOCH.date()).days,
        "at": at and (at - EPOCH) // timedelta(milliseconds=1),
        "exact": exact and (exact - EPOCH) // timedelta(microseconds=1),
        "seen": seen and seen.isoformat().replace("+00:00", "Z"),
    }


@given(rows=st.lists(ROWS, max_size=5))
def test_the_types_of_connect_and_debezium_are_known_by_their_names(rows: list[dict[str, Any]]) -> None:
    written = [change("c", as_written(each)) for each in rows]
    batch = decoded(changes(), *written)
    assert batch.bad == ()
    assert batch.columns.to_pylist() == rows
    flat = decoded(changes(flattened=True), *(framed(6, as_written(each)) for each in rows))
    assert flat.columns.equals(batch.columns)


def test_a_text_that_is_no_time_makes_its_record_bad() -> None:
    batch = decoded(changes(), change("c", row(1, seen="yesterday")), change("c", row(2)))
    assert reasons(batch) == {0: "schema id 1: a text is no time with a zone"}


def test_keys_are_records_of_one_field_values_alone_or_json() -> None:
    form = changes("id INT NOT NULL, name STRING")
    keys = [framed(3, {"id": 7}), framed(4, 7), b'{"id": 7}', b"7", None]
    read = form.read_keys(pa.array(keys, pa.binary()))
    assert read.faults == {}
    assert read.keys.to_pylist() == [b"7", b"7", b"7", b"7", None]
    bad = form.read_keys(pa.array([framed(5, {"id": 1, "shard": 2}), b"\0\0\0\0\x63\x01", b"8"], pa.binary()))
    assert bad.keys.to_pylist() == [None, None, b"8"]
    assert bad.faults == {
        0: "its key: schema id 5 cannot be read as the stream's columns: a key of id, shard has not the one "
        "field id; name a column for keys as they are (metadata.key), and say that one as key of the stream",
        1: "its key: schema id 99: the registry says: not found",
    }
    unkeyed = changes("id INT, name STRING", key=None)
    assert unkeyed.read_keys(pa.array(keys, pa.binary())).keys.to_pylist() == keys


def test_columns_of_the_registry_are_those_of_the_table() -> None:
    fields = {"name": "s", "system": "m", "format": "debezium", "registry": True}
    stream = Stream.model_validate({**fields, "columns": "id BIGINT NOT NULL"})
    envelope = registry().schema(1)
    assert column_list(stream_columns(envelope, stream).columns) == COLUMNS.replace(" NOT NULL", "")
    found = schema_difference(stream, "s-value", {1: envelope, 2: registry().schema(3)})
    refusal = "a change has the row there; flattened: true is for rows alone"
    assert found.refused == [f"version 2: after: {refusal}"]
    flat = Stream.model_validate({**fields, "columns": "id INT", "flattened": True})
    assert schema_difference(flat, "s-value", {1: registry().schema(6)}).refused == []
    with pytest.raises(UnresolvableSchemaError, match="after: a change has the row there"):
        stream_columns(registry().schema(3), stream)


def written(schema_id: int, rows: list[dict[str, Any]], columns: str = COLUMNS) -> list[bytes]:
    """Changes by a schema, which is the registry's."""
    made = change_columns(parse_columns(columns), flattened=schema_id != 1)
    form = change_writer(made, ResolvedWriterSchema(schema_id, json.dumps(SCHEMAS[schema_id])), "AVRO")
    return list(form.encode(pa.RecordBatch.from_pylist(rows, form.schema)).to_pylist())


@given(rows=st.lists(ROWS, max_size=5))
def test_changes_are_written_by_the_schema_of_a_connector(rows: list[dict[str, Any]]) -> None:
    envelopes = [{"before": None, "after": each, "op": "r"} for each in rows]
    assert written(1, envelopes) == [
        framed(
            1,
            {
                "before": None,
                "after": as_written(each),
                "source": {"version": "", "ts_ms": 0},
                "op": "r",
                "ts_ms": None,
            },
        )
        for each in rows
    ]
    batch = decoded(changes(), *written(1, envelopes))
    assert (batch.bad, batch.columns.to_pylist()) == ((), rows)
    assert written(2, rows) == [framed(2, {**as_written(each), "__deleted": None}) for each in rows]


def test_a_row_before_may_say_its_key_alone_and_a_table_may_have_more_columns() -> None:
    columns = "name STRING"
    deleted = {"before": {"name": "Ann"}, "after": None, "op": "d"}
    assert written(1, [deleted], columns) == [
        framed(
            1,
            {
                "before": row(0, name="Ann"),
                "after": None,
                "source": {"version": "", "ts_ms": 0},
                "op": "d",
                "ts_ms": None,
            },
        )
    ]
    flat = {"name": "Ann", "__deleted": "true"}
    assert written(2, [flat], columns) == [framed(2, row(0, name="Ann", __deleted="true"))]


@pytest.mark.parametrize(
    ("schema_id", "change_of_row", "columns", "fault"),
    [
        (1, {"before": None, "after": {"id": 1, "age": 2}, "op": "c"}, "id INT, age INT", "after.age: the"),
        (3, {"id": 1, "name": "Ann"}, "id INT, name STRING", "name: the schema has no such field"),
        (1, {"before": None, "after": {"id": None}, "op": "c"}, "id INT", "after.id: it is null, and "),
    ],
)
def test_a_change_that_the_schema_has_no_place_for_is_refused(
    schema_id: int, change_of_row: dict[str, Any], columns: str, fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        written(schema_id, [change_of_row], columns)


def test_a_schema_by_which_changes_could_not_be_read_is_refused() -> None:
    made = arrow_schema(change_columns(parse_columns("id INT, born TIMESTAMP"), flattened=False))
    with pytest.raises(UnresolvableSchemaError, match="born"):
        CHANGE_KINDS["AVRO"].check_writable(made, ResolvedWriterSchema(1, json.dumps(ENVELOPE)))
