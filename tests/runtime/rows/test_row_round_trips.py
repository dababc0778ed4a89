"""Typed rows become bytes and come back as they were, whatever their types."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.rows.row_decoder import decode
from streamapp_runtime.rows.row_encoder import encode
from streamapp_runtime.rows.row_form import RowFormError, schema_hash
from tests.harness.engine.typed_columns import batches, plain

PEOPLE = pa.schema([("name", pa.string()), ("age", pa.int32()), ("tags", pa.list_(pa.string()))])


def people(*rows: tuple[object, ...]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, PEOPLE, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PEOPLE)


@given(batches(depth=3))
def test_rows_of_any_types_come_back_as_they_were(batch: pa.RecordBatch) -> None:
    rows = encode(batch, batch.schema)
    found = decode(rows, batch.schema)
    found.validate(full=True)
    assert plain(found.to_pylist()) == plain(batch.to_pylist())
    assert found.schema == batch.schema


@given(batches(depth=1), st.data())
def test_a_row_is_the_same_bytes_whatever_stands_beside_it(
    batch: pa.RecordBatch, data: st.DataObject
) -> None:
    rows = encode(batch, batch.schema).to_pylist()
    order = data.draw(st.permutations(range(len(batch))))
    moved = batch.take(pa.array(order, pa.int64()))
    assert encode(moved, batch.schema).to_pylist() == [rows[number] for number in order]


@given(batches(depth=1))
def test_rows_are_read_from_a_large_column_and_from_a_slice(batch: pa.RecordBatch) -> None:
    rows = encode(batch, batch.schema).to_pylist()
    column = pa.array([b"else", *rows], pa.large_binary())[1:]
    assert plain(decode(column, batch.schema).to_pylist()) == plain(batch.to_pylist())


def test_the_form_is_what_the_description_says() -> None:
    row = encode(people(("Ann", 7, ["x", None])), PEOPLE)[0].as_py()
    element = bytes([1, 0, 1, 0, 0, 0]) + b"x"
    absent = bytes([1, 1, 0, 0, 0, 0])
    tags = bytes([2, 0, 0, 0, 7, 0, 0, 0, 6, 0, 0, 0]) + element + absent
    assert row == bytes([1, 0, 7, 0, 0, 0, 3, 0, 0, 0, len(tags), 0, 0, 0]) + b"Ann" + tags


def test_a_missing_row_reads_as_nulls() -> None:
    rows = encode(people(("Ann", 7, ["x"])), PEOPLE).to_pylist()
    found = decode(pa.array([None, *rows, None], pa.binary()), PEOPLE)
    nothing = {"name": None, "age": None, "tags": None}
    assert found.to_pylist() == [nothing, {"name": "Ann", "age": 7, "tags": ["x"]}, nothing]


def test_a_null_struct_is_a_missing_row() -> None:
    structs = pa.array([None, {"name": "Ann", "age": None, "tags": []}], pa.struct(list(PEOPLE)))
    rows = encode(structs, PEOPLE)
    assert rows[0].as_py() is None
    assert decode(rows, PEOPLE).to_pylist()[1] == {"name": "Ann", "age": None, "tags": []}


def test_columns_of_other_types_are_refused() -> None:
    batch = people(("Ann", 7, []))
    with pytest.raises(RowFormError, match="not those of the schema"):
        encode(batch, pa.schema([("name", pa.string())]))
    with pytest.raises(RowFormError, match="cannot be kept in a table"):
        strange = pa.record_batch({"a": pa.array([1]).dictionary_encode()})
        encode(strange, strange.schema)


def test_a_row_of_a_later_form_is_refused() -> None:
    row = encode(people(("Ann", 7, [])), PEOPLE)[0].as_py()
    with pytest.raises(RowFormError, match="form 2"):
        decode(pa.array([row, b"\x02" + row[1:]], pa.binary()), PEOPLE)


@given(st.data())
def test_a_damaged_row_is_refused_or_read_but_never_reads_beyond_itself(data: st.DataObject) -> None:
    row = bytearray(encode(people(("Ann", 7, ["x", "yy"])), PEOPLE)[0].as_py())
    for _ in range(data.draw(st.integers(1, 3))):
        row[data.draw(st.integers(1, len(row) - 1))] = data.draw(st.integers(0, 255))
    damaged = bytes(row[: data.draw(st.integers(0, len(row)))])
    try:
        found = decode(pa.array([damaged], pa.binary()), PEOPLE)
    except RowFormError:
        return
    found.validate(full=True)


def test_the_schema_hash_changes_with_names_types_and_order() -> None:
    age, name = pa.field("age", pa.int32()), pa.field("name", pa.string())
    schemas = [[age, name], [name, age], [age], [age.with_type(pa.int64()), name], [age.with_name("a"), name]]
    assert len({schema_hash(pa.schema(fields)) for fields in schemas}) == len(schemas)
    assert schema_hash(pa.schema([age, name])) == schema_hash(pa.schema([age.with_nullable(False), name]))
