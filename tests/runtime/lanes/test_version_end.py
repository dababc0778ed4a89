"""Where a version of a bounded data set ends in what was read."""

import pyarrow as pa

from streamapp.control.control_message import EndOfStream, UpstreamTask, UserRecord, Watermark
from streamapp.control.message_codec import encode_message
from streamapp.side_inputs.side_input_version import EndOfVersion
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.lanes.records.version_end import (
    IMPORT_ABANDONED,
    IMPORT_ENDED,
    VersionEnd,
    first_version_end,
)
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole
from streamapp_runtime.systems.stream_system import STORED

COLUMNS = tuple(parse_columns("value BINARY"))
T0 = UpstreamTask("t0", 2, "run", 1)


def records(keys: list[bytes | None], values: list[bytes | None]) -> pa.RecordBatch:
    offsets = pa.array(range(7, 7 + len(keys)), pa.int64())
    times = pa.nulls(len(keys), pa.int64())
    columns = [offsets, pa.array(keys, pa.binary()), pa.array(values, pa.binary()), times]
    return pa.record_batch(columns, schema=STORED)


def reading(versions: str) -> Read:
    return Read("s", "main", "s", StreamRole.SIDE_INPUT, "bytes", COLUMNS, table="t", versions=versions)


def test_a_version_ends_at_the_first_record_without_a_key() -> None:
    found = first_version_end(reading("nullKey"), records([b"a", None, b"b", None], [b"1", b"x", b"2", None]))
    assert found == VersionEnd(1, 9, EndOfVersion())


def test_a_version_goes_on_while_every_record_has_a_key() -> None:
    assert first_version_end(reading("nullKey"), records([b"a"], [None])) is None
    assert first_version_end(reading("nullKey"), records([], [])) is None


def test_an_import_ends_where_it_says_so_and_not_at_a_row_without_a_key() -> None:
    keys, rows = [b"a", None, None, None], [b"{}", b"no row", IMPORT_ABANDONED, IMPORT_ENDED]
    end = first_version_end(reading("import"), records(keys, rows))
    assert end == VersionEnd(2, 10, EndOfVersion(is_abandoned=True))
    assert first_version_end(reading("import"), records(keys[2:3], rows[3:])) == VersionEnd(
        0, 8, EndOfVersion()
    )
    assert first_version_end(reading("import"), records(keys[:2], rows[:2])) is None


def test_a_version_ends_at_an_end_of_stream_and_says_whose_it_is() -> None:
    said = [UserRecord(b"1"), Watermark(T0, 5), EndOfStream(T0, "s"), UserRecord(b"2")]
    found = first_version_end(
        reading("endOfStream"), records([b"a", None, None, b"b"], list(map(encode_message, said)))
    )
    assert found == VersionEnd(2, 10, EndOfVersion("run/1/t0", 2))


def test_one_who_speaks_for_all_ends_a_version_alone() -> None:
    said = [EndOfStream(UpstreamTask(None, 4, "run", 1), "s")]
    found = first_version_end(reading("endOfStream"), records([None], list(map(encode_message, said))))
    assert found == VersionEnd(0, 8, EndOfVersion())


def test_a_record_without_a_key_is_no_end_where_ends_of_stream_are() -> None:
    assert (
        first_version_end(reading("endOfStream"), records([None], [encode_message(UserRecord(b"1"))])) is None
    )
    assert first_version_end(reading("none"), records([None], [b"1"])) is None
