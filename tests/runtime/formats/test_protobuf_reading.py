"""Protobuf records, held against Google's own library over random schemas, and what is refused."""

import pyarrow as pa
from google.protobuf.message import DecodeError
from hypothesis import assume, given
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.protobuf.registered_protobuf import PROTOBUF
from streamapp_runtime.formats.record_format import DecodedBatch
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.registered_schema import (
    RegisteredSchema,
    UnresolvableSchemaError,
)
from tests.harness.engine.known_schemas import KnownSchemas
from tests.harness.engine.protobuf_schemas import ProtobufRecords, as_rows, protobuf_records

FRAME = b"\0\0\0\0\x07\0"


def of_text(text: str) -> KnownSchemas:
    return KnownSchemas({7: RegisteredSchema("PROTOBUF", text)})


def decoded(text: str, columns: str, values: list[bytes | None]) -> DecodedBatch:
    form = open_format("protobuf", parse_columns(columns), FormatOptions(registry=True), of_text(text))
    return form.decode(pa.array(values, pa.binary()))


def read(made: ProtobufRecords, messages: list[bytes]) -> DecodedBatch:
    return decoded(made.text, made.columns, [FRAME + message for message in messages])


@given(made=protobuf_records())
def test_records_are_read_as_googles_library_reads_them(made: ProtobufRecords) -> None:
    batch = read(made, made.messages)
    assert batch.bad == ()
    assert as_rows(batch.columns.to_pylist()) == as_rows([made.expected(each) for each in made.messages])


@given(made=protobuf_records(2), data=st.data())
def test_messages_behind_each_other_are_merged(made: ProtobufRecords, data: st.DataObject) -> None:
    joined = [b"".join(data.draw(st.lists(st.sampled_from(made.messages), max_size=3))) for _ in range(4)]
    batch = read(made, joined)
    assert batch.bad == ()
    assert as_rows(batch.columns.to_pylist()) == as_rows([made.expected(each) for each in joined])


@given(made=protobuf_records(1), data=st.data())
def test_a_damaged_record_costs_no_other_one_and_is_read_as_by_googles_library(
    made: ProtobufRecords, data: st.DataObject
) -> None:
    damaged = bytearray(made.messages[0])
    change = data.draw(st.sampled_from(["cut", "set", "more"]))
    if change == "more" or not damaged:
        damaged += data.draw(st.binary(min_size=1, max_size=4))
    elif change == "cut":
        damaged.pop()
    else:
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    messages = [bytes(damaged), *made.messages[1:]]
    batch = read(made, messages)
    assert {bad.index for bad in batch.bad} <= {0}
    assert as_rows(batch.columns.to_pylist())[1:] == as_rows([made.expected(each) for each in messages[1:]])
    assert [bad.reason for bad in read(made, messages[:1]).bad] == [bad.reason for bad in batch.bad]
    if not batch.bad:
        # A field that is no column is only skipped, and a text there may be no UTF-8.
        try:
            expected = made.expected(messages[0])
        except DecodeError:
            assume(False)
        assert as_rows(batch.columns.to_pylist()[:1]) == as_rows([expected])


@given(made=protobuf_records())
def test_rows_are_written_so_that_they_are_read_as_they_were(made: ProtobufRecords) -> None:
    writer = ResolvedWriterSchema(7, made.text)
    columns = made.columns.removeprefix("extra STRING").removeprefix(", ")
    assume(columns and not ("DECIMAL" in columns or "DOUBLE" in columns))
    options = FormatOptions(registry=True, writer=writer)
    form = open_format("protobuf", parse_columns(columns), options, of_text(made.text))
    try:
        PROTOBUF.check_writable(form.schema, writer)
    except UnresolvableSchemaError as refused:
        assume("has no place for" not in str(refused))
        raise
    rows = form.decode(pa.array([FRAME + message for message in made.messages], pa.binary())).columns
    written = form.encode(rows)
    assert as_rows(form.decode(written).columns.to_pylist()) == as_rows(rows.to_pylist())
