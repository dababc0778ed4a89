"""Records of an intermediate stream as a lane takes them in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from streamapp.tasks.partition import Partition
from streamapp_runtime.formats.record_format import DecodedBatch, UndecodableRecord
from streamapp_runtime.lanes.protocol.batch_orders import ReadRange
from streamapp_runtime.lanes.records.record_decoding import DecodedRecords, RecordDecoder, RequestedRange
from streamapp_runtime.lanes.records.record_reader import read_records
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole
from streamapp_runtime.systems.stream_system import STORED
from tests.harness.engine.one_system import OneSystem


@dataclass
class FailingFormat:
    """A format of the user's that can read nothing, and notes what it is shown."""

    reason: str = "the user's own error"
    shown: list[bytes] = field(default_factory=list)
    schema: pa.Schema = field(default_factory=lambda: pa.schema([("v", pa.string())]))

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        self.shown += values.to_pylist()
        columns = pa.record_batch([pa.nulls(len(values), pa.string())], schema=self.schema)
        return DecodedBatch(
            columns, tuple(UndecodableRecord(index, self.reason) for index in range(len(values)))
        )

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        raise NotImplementedError


@dataclass
class _Log:
    values: Sequence[bytes]

    def read(self, _: Partition, start: int, end: int, *, headers: bool = False) -> Iterator[pa.RecordBatch]:
        assert not headers
        count = end - start
        offsets, stamps = pa.array(range(start, end), pa.int64()), pa.array([0] * count, pa.int64())
        keys = pa.array([b"key"] * count, pa.binary())
        yield pa.record_batch([offsets, keys, pa.array(self.values, pa.binary()), stamps], schema=STORED)


def read_in_lane(values: Sequence[bytes], form: Any = None, first: int = 0) -> DecodedRecords:
    """What a lane has of these values of partition 0 of the stream `int`; the first is at an offset."""
    read = Read("int", "main", "int", StreamRole.INTERMEDIATE, "json", ())
    request = RequestedRange(ReadRange("int", 0, first, first + len(values)), 0, 0)
    system: Any = _Log(values)
    (decoded,) = read_records(RecordDecoder(read, form or FailingFormat()), [request], OneSystem(system))
    (records,) = decoded.parts
    return records
