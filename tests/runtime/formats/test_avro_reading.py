import json
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.avro.avro_reader import AvroReader
from streamapp_runtime.formats.avro.schema_resolution import UnresolvableSchemaError
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.stream_format import UnfitFormatError, open_format
from streamapp_runtime.rows.byte_columns import byte_spans
from tests.harness.engine.avro_schemas import Evolution, evolutions, record_bytes


def spans(values: pa.BinaryArray) -> tuple[Any, Any, Any]:
    bounds, data = byte_spans(values)
    return data, bounds[:-1], bounds[1:]


def of_fields(**fields: Any) -> dict[str, Any]:
    parts = [{"name": name, "type": kind} for name, kind in fields.items()]
    return {"type": "record", "name": "Row", "fields": parts}


@given(made=evolutions())
def test_records_of_any_schema_are_read_as_another_implementation_resolves_them(made: Evolution) -> None:
    values = made.values
    writer, reader = fastavro.parse_schema(made.written), fastavro.parse_schema(made.read)
    expected = [fastavro.schemaless_reader(BytesIO(value), writer, reader) for value in values]
    form = open_format("avro", parse_columns(made.columns), FormatOptions(json.dumps(made.written)))
    decoded = form.decode(pa.array(values, pa.binary()))
    assert decoded.bad == ()
    assert decoded.columns.to_pylist(maps_as_pydicts="strict") == expected


@given(made=evolutions(), data=st.data())
def test_a_damaged_record_costs_no_other_one_and_reads_the_same_alone(
    made: Evolution, data: st.DataObject
) -> None:
    values = [bytearray(value) for value in made.values] + [bytearray(b"\x81")]
    damaged = data.draw(st.sampled_from(values))
    change = data.draw(st.sampled_from(["cut", "set", "more"]))
    if change == "more" or not damaged:
        damaged += b"\x02"
    elif change == "cut":
        damaged.pop()
    else:
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    form = open_format("avro", parse_columns(made.columns), FormatOptions(json.dumps(made.written)))
    together = form.decode(pa.array([bytes(value) for value in values], pa.binary()))
    alone = [form.decode(pa.array([bytes(value)], pa.binary())) for value in values]
    reasons = {bad.index: bad.reason for bad in together.bad}
    assert reasons == {at: one.bad[0].reason for at, one in enumerate(alone) if one.bad}
    assert repr(together.columns.to_pylist()) == repr([one.columns.to_pylist()[0] for one in alone])


def test_a_number_that_ends_early_is_not_read_on_in_the_next_record() -> None:
    form = open_format("avro", parse_columns("a BIGINT"), FormatOptions(json.dumps(of_fields(a="long"))))
    batch = form.decode(pa.array([b"\x80", b"\x80" * 9 + b"\x01", b"\x02"]))
    assert batch.columns.to_pydict() == {"a": [None, 2**62, 1]}
    assert [bad.reason for bad in batch.bad] == ["no record of the Avro schema: the record ends early"]


DAMAGED = [
    ("string", b"\x02\xff", "a text is no valid UTF-8"),
    ("string", b"\x06ab", "the record ends early"),
    ("string", b"\x01", "the record ends early"),
    ("boolean", b"\x02", "a boolean is neither 0 nor 1"),
    ("int", b"\xff\xff\xff\xff\xff\x01", "an int has more than 32 bits"),
    ("long", b"\xff" * 11, "a number has more than ten bytes"),
    ("long", b"\x02\x02", "1 bytes are left over"),
    (["null", "int"], b"\x04\x02", "a union has no such branch"),
    ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02", "an enum has no such symbol"),
    ({"type": "array", "items": "int"}, b"\xfe\xff\xff\xff\x0f\x00", "the record ends early"),
    ({"type": "array", "items": "int"}, b"\x01" + b"\xff" * 9 + b"\x01", "the record ends early"),
    ({"type": "map", "values": "int"}, b"\x04\x02a\x02\x02a\x04\x00", "a map has a key twice"),
    ({"type": "long", "logicalType": "timestamp-millis"}, b"\xfe" + b"\xff" * 8 + b"\x01", "years 1 to 9999"),
    (
        {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 1},
        b"\x04\x7f\xff",
        "a decimal does not fit",
    ),
]
COLUMNS = {
    "string": "STRING",
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "enum": "STRING",
    "array": "ARRAY<INT>",
    "map": "MAP<STRING, INT>",
}


@pytest.mark.parametrize(("kind", "value", "reason"), DAMAGED)
def test_what_is_wrong_with_a_record_is_said(kind: Any, value: bytes, reason: str) -> None:
    column = COLUMNS.get(
        kind["type"] if isinstance(kind, dict) else "int" if isinstance(kind, list) else kind
    )
    if isinstance(kind, dict) and "logicalType" in kind:
        column = "TIMESTAMP" if kind["type"] == "long" else "DECIMAL(3,1)"
    form = open_format("avro", parse_columns(f"a {column}"), FormatOptions(json.dumps(of_fields(a=kind))))
    (bad,) = form.decode(pa.array([value])).bad
    assert reason in bad.reason


def test_an_array_in_blocks_that_say_their_bytes_is_read() -> None:
    schema = of_fields(a={"type": "array", "items": "int"}, b="int")
    form = open_format("avro", parse_columns("a ARRAY<INT>, b INT"), FormatOptions(json.dumps(schema)))
    value = b"\x03\x04\x02\x04" + b"\x02\x06" + b"\x00" + b"\x0e"
    assert form.decode(pa.array([value])).columns.to_pylist() == [{"a": [1, 2, 3], "b": 7}]


NODE = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "next", "type": ["null", "Node"]}, {"name": "a", "type": "int"}],
}
UNRESOLVABLE = [
    (of_fields(a="long"), "a INT", "a: long is written there, the column is int32"),
    (of_fields(a="long"), "a TIMESTAMP", "a: long is written there, the column is timestamp"),
    (of_fields(a={"type": "long", "logicalType": "local-timestamp-micros"}), "a TIMESTAMP", "a: long local-"),
    (of_fields(a=["null", "string"]), "a INT", "a: string is written there"),
    (of_fields(a={"type": "array", "items": "string"}), "a ARRAY<INT>", "a[]: string is written there"),
    (of_fields(a={"type": "map", "values": "string"}), "a MAP<STRING, INT>", "a{}: string is written there"),
    (of_fields(a=of_fields(b="long") | {"name": "In"}), "a STRUCT<b: INT>", "a.b: long is written there"),
    (NODE, "next STRUCT<a: INT>", 'next: "Node" contains itself, which no column can'),
    (of_fields(a={"type": "array", "items": "null"}), "b INT", "a: the items of the array have no content"),
    ("string", "a INT", "it is no record but string"),
    (
        of_fields(a={"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3}),
        "a DECIMAL(9,2)",
        "a: bytes decimal(9, 3) is written there, the column is decimal128(9, 2)",
    ),
]


@pytest.mark.parametrize(("schema", "columns", "message"), UNRESOLVABLE)
def test_a_schema_that_has_no_place_in_the_columns_is_refused_with_the_path(
    schema: Any, columns: str, message: str
) -> None:
    with pytest.raises(UnfitFormatError) as refused:
        open_format("avro", parse_columns(columns), FormatOptions(json.dumps(schema)))
    assert message in refused.value.message


def test_a_record_in_a_branch_without_a_place_in_the_column_is_bad_and_others_are_not() -> None:
    schema = of_fields(a=["null", "long", "string"])
    form = open_format("avro", parse_columns("a BIGINT"), FormatOptions(json.dumps(schema)))
    decoded = form.decode(pa.array([record_bytes(schema, {"a": value}) for value in (1, "x", None)]))
    assert decoded.columns.column("a").to_pylist() == [1, None, None]
    assert [(bad.index, "a: string is written there" in bad.reason) for bad in decoded.bad] == [(1, True)]


def test_aliases_and_defaults_of_the_streams_own_schema_fill_columns_that_the_writer_lacks() -> None:
    reader = {
        "type": "record",
        "name": "Row",
        "fields": [
            {"name": "user", "type": "string", "aliases": ["usr", "name"]},
            {"name": "tier", "type": "string", "default": "free"},
            {"name": "key", "type": "bytes", "default": "\u00ff"},
            {"name": "since", "type": {"type": "int", "logicalType": "date"}, "default": 1},
        ],
    }
    columns = pa.schema(
        [("user", pa.string()), ("tier", pa.string()), ("key", pa.binary()), ("since", pa.date32())]
    )
    writer = of_fields(name="string")
    resolved = AvroReader.resolve(writer, columns, (), reader=fastavro.parse_schema(reader))
    value = record_bytes(writer, {"name": "ann"})
    values = pa.array([value, value])
    form_rows = resolved.read(*spans(values)).columns.to_pylist()
    assert [list(map(str, row.values())) for row in form_rows] == [
        ["ann", "free", r"b'\xff'", "1970-01-02"]
    ] * 2


def test_a_default_that_is_no_value_of_the_column_is_refused() -> None:
    reader = {"type": "record", "name": "Row", "fields": [{"name": "n", "type": "string", "default": "x"}]}
    with pytest.raises(UnresolvableSchemaError, match="n: its default is no int32"):
        AvroReader.resolve(of_fields(a="int"), pa.schema([("n", pa.int32())]), (), reader=reader)


def test_named_types_of_other_schemas_are_found() -> None:
    inner = {"type": "record", "name": "Inner", "namespace": "x.y", "fields": [{"name": "b", "type": "int"}]}
    columns = pa.schema([("a", pa.struct([("b", pa.int32())])), ("c", pa.struct([("b", pa.int32())]))])
    resolved = AvroReader.resolve(of_fields(a="x.y.Inner", c="x.y.Inner"), columns, (), dependencies=[inner])
    rows = resolved.read(*spans(pa.array([b"\x02\x04"]))).columns.to_pylist()
    assert rows == [{"a": {"b": 1}, "c": {"b": 2}}]


TREE = {
    "type": "record",
    "name": "Tree",
    "fields": [
        {"name": "children", "type": {"type": "array", "items": "Tree"}},
        {"name": "leaf", "type": {
            "type": "record",
            "name": "Leaf",
            "fields": [{"name": "by_name", "type": {"type": "map", "values": ["null", "Tree", "string"]}}],
        }},
        {"name": "next", "type": ["null", "Tree"]},
        {"name": "n", "type": "long"},
    ],
}  # fmt: skip
WITH_TREE = of_fields(a="int", tree=TREE, b="string", other=["null", "Leaf"], c=["null", "int"])
TREES = st.recursive(
    st.builds(lambda n: {"children": [], "leaf": {"by_name": {}}, "next": None, "n": n}, st.integers(-3, 99)),
    lambda inner: st.builds(
        lambda children, by_name, after: {
            "children": children, "leaf": {"by_name": by_name}, "next": after, "n": 1
        },
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=2), inner | st.none() | st.text(max_size=3), max_size=2),
        inner | st.none(),
    ),
    max_leaves=8,
)  # fmt: skip


@given(st.lists(TREES, max_size=4), st.data())
def test_fields_whose_types_contain_themselves_are_skipped(trees: list[Any], data: st.DataObject) -> None:
    others = [data.draw(st.sampled_from([None, tree["leaf"]])) for tree in trees]
    rows = [
        {"a": number, "tree": tree, "b": "x" * number, "other": other, "c": number}
        for number, (tree, other) in enumerate(zip(trees, others, strict=True))
    ]
    form = open_format("avro", parse_columns("c INT, b STRING, a INT"), FormatOptions(json.dumps(WITH_TREE)))
    values = [record_bytes(WITH_TREE, row) for row in rows]
    decoded = form.decode(pa.array(values, pa.binary()))
    assert decoded.bad == ()
    assert decoded.columns.to_pylist() == [{name: row[name] for name in ("c", "b", "a")} for row in rows]
    for value in values:  # whatever is cut off is a fault, and costs no other record
        end = data.draw(st.integers(0, len(value) - 1))
        both = form.decode(pa.array([value[:end], values[0]], pa.binary()))
        assert [bad.index for bad in both.bad] == [0]


def test_a_record_that_is_within_itself_too_often_is_bad_and_no_other_is() -> None:
    form = open_format(
        "avro", parse_columns("a INT"), FormatOptions(json.dumps(of_fields(next=NODE, a="int")))
    )
    values = [b"\x02" * deep + b"\0" + b"\x0e" * (deep + 1) + b"\x10" for deep in (0, 63, 64, 5000, 1)]
    decoded = form.decode(pa.array(values))
    assert decoded.columns.to_pylist() == [{"a": each} for each in (8, 8, None, None, 8)]
    reason = "no record of the Avro schema: records are within each other more than 64 times"
    assert [(bad.index, bad.reason) for bad in decoded.bad] == [(2, reason), (3, reason)]
