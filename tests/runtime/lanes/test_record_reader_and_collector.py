"""What a lane reads, and what it writes where."""

from base64 import b64decode
from pathlib import Path

import pyarrow as pa
import pytest

from streamapp.control.control_message import MessageKind
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.message_envelope import close_envelopes
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.lanes.protocol.batch_orders import (
    KnownRejection,
    ReadRange,
)
from streamapp_runtime.lanes.protocol.rejections import RejectionCause
from streamapp_runtime.lanes.records.dead_letters import SideOutputStream, dead_letters
from streamapp_runtime.lanes.records.record_collector import RecordCollector
from streamapp_runtime.lanes.records.record_decoding import DecodedRecords, RecordDecoder, RequestedRange
from streamapp_runtime.lanes.records.record_reader import read_records
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem

COLUMNS = tuple(parse_columns("user STRING, n INT"))
WHOLE = ReadRange("events", 0, 0, 4)
VALUES = [b'{"user": "a", "n": 1}', b"broken", None, b'{"user": "c", "n": 3}']


def taken(
    folder: Path,
    values: list[bytes | None],
    known: dict[int, KnownRejection],
    role: StreamRole = StreamRole.INPUT,
) -> list[DecodedRecords]:
    system = EmbeddedSystem(folder)
    try:
        system.create("events", 1)
        transaction = system.begin("tests", 0)
        keys = pa.array([b"k"] * len(values), pa.binary())
        times = pa.array(range(len(values)), pa.int64())
        transaction.append(
            TopicPartition("events", 0),
            pa.record_batch([keys, pa.array(values, pa.binary()), times], schema=RECORDS),
        )
        transaction.commit()
        read = Read("events", "main", "events", role, "json", COLUMNS)
        decoder = RecordDecoder(read, open_format("json", COLUMNS))
        requests = [RequestedRange(WHOLE, 2, 5, known)]
        return [
            part for decoded in read_records(decoder, requests, OneSystem(system)) for part in decoded.parts
        ]
    finally:
        system.close()


def test_what_cannot_be_decoded_is_set_apart_with_its_bytes_and_the_rest_becomes_rows(tmp_path: Path) -> None:
    (found,) = taken(tmp_path, VALUES, {})
    assert found.rows is not None
    assert found.rows.offset.to_pylist() == [0, 2, 3]
    assert found.rows.tombstone.to_pylist() == [False, True, False]
    assert set(found.rows.task.to_pylist()) == {2}
    assert set(found.rows.source.to_pylist()) == {5}
    (bad,) = found.bad
    assert (bad.place, bad.value, bad.key, bad.timestamp) == ("events#0 at offset 1", b"broken", b"k", 1)


def test_records_that_are_known_as_bad_are_set_apart_for_the_reason_that_is_known(tmp_path: Path) -> None:
    known = {
        0: KnownRejection("events", 0, 0, "division by zero"),
        3: KnownRejection("events", 0, 3, "KeyError", RejectionCause.CODE),
        9: KnownRejection("events", 0, 9, "elsewhere"),
    }
    aside, rest = taken(tmp_path, VALUES, known)
    assert [(bad.offset, bad.reason, bad.cause) for bad in aside.bad] == [
        (0, "division by zero", RejectionCause.RECORD),
        (3, "KeyError", RejectionCause.CODE),
    ]
    assert rest.rows is not None
    assert rest.rows.offset.to_pylist() == [2]


def test_messages_of_control_are_no_rows_of_an_intermediate_stream(tmp_path: Path) -> None:
    user = close_envelopes(pa.array([VALUES[0], None, VALUES[3]], pa.binary())).to_pylist()
    control = close_envelopes(pa.array([b"{}"], pa.binary()), MessageKind.WATERMARK).to_pylist()
    (found,) = taken(tmp_path, [user[0], *control, user[1], user[2]], {}, StreamRole.INTERMEDIATE)
    assert found.rows is not None
    assert found.rows.offset.to_pylist() == [0, 2, 3]
    assert found.rows.columns[1].to_pylist() == [1, None, 3]


def rows(keys: list[bytes], tasks: list[int]) -> Slice:
    count = len(keys)
    return Slice(
        task=pa.array(tasks, pa.int32()),
        key=pa.array(keys, pa.binary()),
        time=pa.array([None] * count, pa.int64()),
        tombstone=pa.array([False] * count),
        source=pa.array([0] * count, pa.int32()),
        offset=pa.array(range(count), pa.int64()),
        columns=(pa.array([key.decode() for key in keys]), pa.array(range(count), pa.int32())),
    )


@pytest.mark.parametrize("count", [1, 3])
def test_rows_go_where_their_keys_belong_in_their_order_but_for_tasks_that_failed(count: int) -> None:
    write = Write("out", "main", "topic", StreamRole.OUTPUT, "json")
    outbox = RecordCollector({"sent": open_format("json", COLUMNS)}, {"out": count}, 77)
    keys = [f"k{i}".encode() for i in range(12)]
    outbox.put("sent", write, rows(keys, [i % 2 for i in range(12)]))
    found = {p: (r.column("key").to_pylist(), t.to_pylist()) for p, r, t in outbox.records({1})}
    kept = keys[::2]
    places = partition_of(pa.array(kept, pa.binary()), count).tolist()
    for partition, (written, tasks) in found.items():
        assert written == [key for key, at in zip(kept, places, strict=True) if at == partition.index]
        assert set(tasks) == {0}
    assert sum(len(written) for written, _ in found.values()) == len(kept)


def test_dead_letters_of_tasks_that_failed_stay_where_they_are(tmp_path: Path) -> None:
    (found,) = taken(tmp_path, VALUES, {})
    outbox, stream = RecordCollector({}, {}, 77), SideOutputStream("letters", 1)
    letters = dead_letters(found.bad)
    outbox.put_letters(stream, 0, *letters)
    outbox.put_letters(stream, 1, *letters)
    ((partition, records, tasks),) = outbox.records({1})
    assert (partition, tasks.to_pylist()) == (TopicPartition("letters", 0), [0])
    assert b64decode(b"YnJva2Vu") == b"broken"
    assert b'"value": "YnJva2Vu"' in records.column("value")[0].as_py()
