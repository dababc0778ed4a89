"""Reading: records of a stream's ranges, decoded some ranges at a time."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.tasks.partition import Partition
from streamapp_runtime.lanes.protocol.batch_orders import ReadRange
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord
from streamapp_runtime.lanes.records.record_decoding import (
    DecodedRecords,
    RecordChunk,
    RecordDecoder,
    RequestedRange,
    rejected_records,
)
from streamapp_runtime.lanes.records.trace_headers import TraceHeaders
from streamapp_runtime.lanes.records.version_end import first_version_end
from streamapp_runtime.operators.stateless.stream_operations import declared_stream
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.stream_system import HEADERS

JOINT_RECORDS: Final = 16_384
JOINT_BYTES: Final = 8 << 20
"""So much of several ranges is decoded at once; more of one range is as it was read."""


@dataclass(frozen=True, slots=True)
class DecodedRanges:
    """The rows of ranges that were decoded at once, and the result for the records of each range."""

    rows: Slice | None
    parts: tuple[DecodedRecords, ...]
    traces: TraceHeaders | None = None


def read_records(
    decoder: RecordDecoder,
    requests: Sequence[RequestedRange],
    systems: Systems,
    failed: Collection[int] = (),
) -> Iterator[DecodedRanges]:
    """The rows of ranges of one stream, in their order. Ranges of tasks that fail meanwhile are left."""
    parts: list[DecodedRecords | RecordChunk] = []
    count = size = 0
    for part in _parts(decoder, requests, systems, failed):
        if isinstance(part, RecordChunk):
            count, size = count + len(part.records), size + part.records.nbytes
            if parts and (count > JOINT_RECORDS or size > JOINT_BYTES):
                yield _decoded(decoder, parts)
                parts, count, size = [], len(part.records), part.records.nbytes
        parts.append(part)
    if parts:
        yield _decoded(decoder, parts)


def reread_records(
    partition: Partition, read_range: ReadRange, reasons: Mapping[int, str], systems: Systems
) -> tuple[RejectedRecord, ...]:
    """Records of a range as they were read, by their offsets: what is bad about each was seen later."""
    offsets = pa.array(list(reasons), pa.int64())
    rejected: tuple[RejectedRecord, ...] = ()
    for records in systems.read(partition, min(reasons), max(reasons) + 1, headers=True):
        chosen = records.filter(pc.is_in(records.column("offset"), offsets))
        places = {place: reasons[offset] for place, offset in enumerate(chosen.column("offset").to_pylist())}
        rejected += rejected_records(chosen, declared_stream(read_range.stream), read_range, places)
    return rejected


def with_headers(
    rejected: Sequence[RejectedRecord], partition: Partition, systems: Systems
) -> Sequence[RejectedRecord]:
    """Records of a partition with their headers: where these were passed over, it is read again."""
    offsets = [record.offset for record in rejected if record.headers is None]
    if not offsets:
        return rejected
    headers: dict[int, Sequence[dict[str, Any]]] = {}
    for records in systems.read(partition, min(offsets), max(offsets) + 1, headers=True):
        chosen = records.filter(pc.is_in(records.column("offset"), pa.array(offsets, pa.int64())))
        columns = (chosen.column(name).to_pylist() for name in ("offset", HEADERS.name))
        headers |= dict(zip(*columns, strict=True))
    return [replace(record, headers=headers.get(record.offset, record.headers)) for record in rejected]


def _parts(
    decoder: RecordDecoder,
    requests: Sequence[RequestedRange],
    systems: Systems,
    failed: Collection[int],
) -> Iterator[DecodedRecords | RecordChunk]:
    """The parts of the ranges, in order: records to decode, and those that need no decoding."""
    read = decoder.read
    for request in requests:
        if request.task in failed:
            continue
        partition = Partition(request.range.stream, request.range.partition)
        start, end = request.range.start, request.range.end
        for batch in systems.read(partition, start, end, headers=read.headers):
            version_end = first_version_end(read, batch) if read.versions != "none" else None
            records = batch.slice(0, version_end.place) if version_end else batch
            if request.known:
                known_offsets = pa.array(list(request.known), pa.int64())
                is_known_bad = pc.is_in(records.column("offset"), known_offsets)
                if is_known_bad.true_count:
                    yield decoder.set_aside(RecordChunk(request, records.filter(is_known_bad)))
                    records = records.filter(pc.invert(is_known_bad))
            yield RecordChunk(request, records)
            if version_end:
                yield DecodedRecords(request, None, 0, end=version_end)
                break


def _decoded(decoder: RecordDecoder, parts: Sequence[DecodedRecords | RecordChunk]) -> DecodedRanges:
    chunks = [part for part in parts if isinstance(part, RecordChunk)]
    if not chunks:
        return DecodedRanges(None, tuple(part for part in parts if isinstance(part, DecodedRecords)))
    rows, decoded, traces = decoder.decode(chunks)
    of_chunks = iter(decoded)
    return DecodedRanges(
        rows, tuple(next(of_chunks) if isinstance(part, RecordChunk) else part for part in parts), traces
    )
