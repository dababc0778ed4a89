"""Keys under a registry that are written, and read again as the same columns."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp.spec.value_types.format_names import REGISTERED_KEYS, KeyFormat
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.registered_keys import KEY_KINDS, RegisteredKeys
from streamapp_runtime.registered_schema import RegisteredSchema, UnresolvableSchemaError
from streamapp_runtime.rows.byte_columns import key_bytes
from tests.harness.engine.known_schemas import KnownSchemas

KINDS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "STRING": st.text(max_size=5),
    "INT": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "BOOLEAN": st.booleans(),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
    "BINARY": st.binary(max_size=5),
    "TIMESTAMP": st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
}
LONE: Final = {
    ("avro", "STRING"): '"string"',
    ("avro", "BIGINT"): '"long"',
    ("avro", "BINARY"): '{"type": "bytes"}',
    ("json", "STRING"): '{"type": "string"}',
    ("json", "BIGINT"): '{"type": "integer"}',
}


class Keys(NamedTuple):
    """The parts of keys, and which rows delete."""

    form: KeyFormat
    columns: tuple[Column, ...]
    rows: pa.RecordBatch
    deletions: list[bool]


@st.composite
def keys(draw: st.DrawFn, most: int = 3) -> Keys:
    chosen = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=most))
    columns = parse_columns(", ".join(f"c{number} {kind}" for number, kind in enumerate(chosen)))
    parts = {f"c{number}": st.none() | KINDS[kind] for number, kind in enumerate(chosen)}
    rows = draw(st.lists(st.fixed_dictionaries(parts), max_size=6))
    deletions = draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    form = draw(st.sampled_from(REGISTERED_KEYS))
    return Keys(form, columns, pa.RecordBatch.from_pylist(rows, schema=arrow_schema(columns)), deletions)


def opened(form: KeyFormat, columns: Sequence[Column], text: str, *, decoded: bool) -> RegisteredKeys:
    kind = KEY_KINDS[form]
    writer = ResolvedWriterSchema(7, text)
    kind.check_writable(arrow_schema(columns), writer)
    options = FormatOptions(
        key_format=form, key_columns=tuple(columns), key_writer=writer, key_is_decoded=decoded
    )
    return RegisteredKeys(options, (), KnownSchemas({7: RegisteredSchema(kind.name, text)}))


def all_null(row: dict[str, Any]) -> bool:
    return all(part is None for part in row.values())


def check_round_trip(made: Keys, form: RegisteredKeys, own: pa.BinaryArray) -> None:
    """Rows that delete have their own key, and no columns; all keys are read as the columns were."""
    deletions = pa.array(made.deletions, pa.bool_())
    masked = [
        pa.array(
            [None if gone else part for part, gone in zip(column.to_pylist(), made.deletions, strict=True)],
            column.type,
        )
        for column in made.rows.columns
    ]
    written = form.write(masked, own, deletions)
    expected = made.rows.to_pylist()
    assert [key is None for key in written.to_pylist()] == [all_null(row) for row in expected]
    read = form.read(written)
    assert read.faults == {}
    assert read.columns is not None
    assert read.columns.to_pylist() == expected


@pytest.mark.usefixtures("process")
@given(made=keys())
def test_keys_of_several_columns_are_read_as_they_were_written(made: Keys) -> None:
    text = KEY_KINDS[made.form].own_schema(made.rows.schema)
    form = opened(made.form, made.columns, text, decoded=False)
    none = pa.nulls(len(made.rows), pa.binary())
    nobody = pa.array([False] * len(none), pa.bool_())
    kept = form.write(made.rows.columns, none, nobody)
    check_round_trip(made, form, kept)


@given(made=keys(most=1))
def test_a_key_of_one_column_is_that_of_the_row_and_of_its_deletion(made: Keys) -> None:
    text = LONE.get((made.form, made.columns[0].type))
    if text is not None:
        form = opened(made.form, made.columns, text, decoded=True)
        check_round_trip(made, form, key_bytes(made.rows.column(0)))


REFUSED: Final = [
    ("avro", "a STRING, b STRING", '"string"', "it is a value alone, and the stream has several columns"),
    ("json", "a STRING, b STRING", '{"type": "string"}', "it is a value alone, and the stream has several"),
    ("json", "a BIGINT", '{"type": "string"}', "a: the column is int64, and the schema has ['string']"),
    ("avro", "a BIGINT", '"int"', "a: the column is int64, which int has no place for"),
    ("avro", "a STRING", json.dumps({"type": "record", "name": "K", "fields": []}), "a: the schema has no"),
]


def test_columns_without_a_place_in_a_schema_of_keys_are_refused() -> None:
    form: KeyFormat
    for form, columns, text, reason in REFUSED:
        with pytest.raises(UnresolvableSchemaError) as refused:
            opened(form, parse_columns(columns), text, decoded=False)
        assert reason in str(refused.value)


def test_a_null_in_a_part_without_null_and_a_deletion_with_another_key_are_refused() -> None:
    record = {"type": "record", "name": "K", "fields": [{"name": n, "type": "string"} for n in "ab"]}
    form = opened("avro", parse_columns("a STRING, b STRING"), json.dumps(record), decoded=False)
    parts, none = [pa.array(["x"]), pa.nulls(1, pa.string())], pa.nulls(1, pa.binary())
    with pytest.raises(ValueError, match="a row does not fit the Avro schema"):
        form.write(parts, none, pa.array([False]))
    with pytest.raises(ValueError, match="the key that it has is none of the registry: it has no frame"):
        form.write(parts, pa.array([b"ann"]), pa.array([True]))
