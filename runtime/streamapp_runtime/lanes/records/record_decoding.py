"""Records of one stream as rows, those of many ranges at once, with what could not be decoded set apart.

Most of what decoding costs does not depend on the number of records. A lane of many tasks reads a few records
of many partitions in each batch, so these are decoded together and told apart afterwards.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.control.control_message import Control, MessageKind
from streamapp.control.message_codec import decode_control_message
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.formats.message_envelope import open_envelopes
from streamapp_runtime.formats.record_format import DecodedBatch, KeyedFormat, RecordFormat
from streamapp_runtime.formats.registry.schema_frames import KEY_HEADER, with_header_frames
from streamapp_runtime.lanes.protocol.batch_orders import KnownRejection, ReadRange
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord
from streamapp_runtime.lanes.records.event_times import event_times
from streamapp_runtime.lanes.records.key_check import OWN_KEY, TOMBSTONE, KeyCheck
from streamapp_runtime.lanes.records.metadata_columns import KEY_COLUMNS, unreadable_keys, with_metadata
from streamapp_runtime.lanes.records.trace_headers import TraceHeaders, trace_headers
from streamapp_runtime.lanes.records.version_end import VersionEnd
from streamapp_runtime.operators.stateless.stream_operations import Read
from streamapp_runtime.rows.byte_columns import byte_count, key_bytes, mask_without
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.systems.stream_system import HEADERS


@dataclass(frozen=True, slots=True)
class RequestedRange:
    """A range in the lane's order: whose it is, where it stands there, and which of its records are bad."""

    range: ReadRange
    task: int
    number: int
    known: Mapping[int, KnownRejection] = field(default_factory=dict)  # by offset: what is known to be bad


@dataclass(frozen=True, slots=True)
class DecodedRecords:
    """The rows of some records of a range, and what was wrong with others."""

    request: RequestedRange
    rows: Slice | None
    size: int
    bad: tuple[RejectedRecord, ...] = ()
    newest: int | None = None  # the newest event time, where a column tells it
    control: tuple[Control, ...] = ()  # what upstream tasks say, in order
    end: VersionEnd | None = None  # of the version that is read; what is behind it was left
    first_at: int | None = None  # the timestamp of the first record, in milliseconds


@dataclass(frozen=True, slots=True)
class RecordChunk:
    """Records of a range as they were read."""

    request: RequestedRange
    records: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class RecordDecoder:
    """The decoder of a stream's records."""

    read: Read
    form: RecordFormat
    now_ms: int | None = None  # the time of the batch, which event times may not run far ahead of
    keys: KeyCheck | None = None  # what the records' keys are held against

    def decode(
        self, chunks: Sequence[RecordChunk]
    ) -> tuple[Slice, list[DecodedRecords], TraceHeaders | None]:
        """The rows of all chunks; what came of each, its part of the rows included; headers to pass on."""
        records = _joined([chunk.records for chunk in chunks])
        owners = np.repeat(np.arange(len(chunks)), [len(chunk.records) for chunk in chunks])
        sources = np.array([chunk.request.number for chunk in chunks], np.int32)
        traces = trace_headers(records, sources[owners]) if self.read.traces else None
        rejections = _Rejections(self.read.stream, chunks)
        control: list[list[Control]] = [[] for _ in chunks]
        if self.read.enveloped:
            records, owners = self._opened(records, owners, rejections, control)
        rows, owners, newest = self._rows(records, owners, sources, chunks, rejections)
        bounds = np.searchsorted(owners, np.arange(len(chunks) + 1)).tolist()
        parts = [
            DecodedRecords(
                chunk.request,
                rows.slice(start, end - start) if len(chunks) > 1 else rows,
                byte_count(chunk.records.column("value")),
                rejections.of(number),
                newest.get(number),
                tuple(control[number]),
                first_at=_first_timestamp(chunk.records),
            )
            for number, (chunk, start, end) in enumerate(zip(chunks, bounds[:-1], bounds[1:], strict=True))
        ]
        return rows, parts, traces

    def set_aside(self, chunk: RecordChunk) -> DecodedRecords:
        """Nothing of records that are known as bad."""
        known = [chunk.request.known[offset] for offset in chunk.records.column("offset").to_pylist()]
        reasons = {place: one.reason for place, one in enumerate(known)}
        bad = rejected_records(chunk.records, self.read.stream, chunk.request.range, reasons)
        bad = tuple(replace(record, cause=one.cause) for record, one in zip(bad, known, strict=True))
        return DecodedRecords(chunk.request, None, byte_count(chunk.records.column("value")), bad)

    def _opened(
        self,
        records: pa.RecordBatch,
        owners: npt.NDArray[np.int64],
        rejections: "_Rejections",
        control: Sequence[list[Control]],
    ) -> tuple[pa.RecordBatch, npt.NDArray[np.int64]]:
        """The users' records out of their envelopes; control messages go where they belong."""
        opened = open_envelopes(records.column("value"))
        user = opened.types == MessageKind.USER
        places = np.flatnonzero(~user)
        control_bodies = zip(
            opened.types[places].tolist(), opened.values.take(pa.array(places)).to_pylist(), strict=True
        )
        for place, (kind, body) in zip(places.tolist(), control_bodies, strict=True):
            message = _message(kind, body)
            if isinstance(message, Refusal):
                rejections.note(records, owners, {place: f"{message.message}; {message.hint}"})
            else:
                control[owners[place]].append(message)
        records = records.set_column(2, records.schema.field(2), opened.values)
        return (records, owners) if user.all() else (records.filter(pa.array(user)), owners[user])

    def _rows(
        self,
        records: pa.RecordBatch,
        owners: npt.NDArray[np.int64],
        sources: npt.NDArray[np.int32],
        chunks: Sequence[RecordChunk],
        rejections: "_Rejections",
    ) -> tuple[Slice, npt.NDArray[np.int64], Mapping[int, int]]:
        """Rows, the chunk of each, and the newest event time of each chunk that has one."""
        if faults := unreadable_keys(self.read, records):
            rejections.note(records, owners, faults)
            good = mask_without(faults, len(records))
            records, owners = records.filter(good), owners[np.asarray(good)]
        records, owners = self._with_own_keys(records, owners, rejections)
        values = records.column("value")
        if self.read.registry:
            values = with_header_frames(values, records.column("headers"))
        decoded = self.form.decode(values)
        columns, records = decoded.columns, _with_tombstones(records, decoded)
        if decoded.bad:
            rejections.note(records, owners, {each.index: each.reason for each in decoded.bad})
            good = decoded.good()
            records, columns, owners = records.filter(good), columns.filter(good), owners[np.asarray(good)]
        partitions = np.array([chunk.request.range.partition for chunk in chunks])
        columns = with_metadata(self.read, columns, records, partitions[owners])
        keys = _keys(self.read, records.column(OWN_KEY), columns)
        if self.keys and (faults := self.keys.faults(records, keys, columns, partitions[owners])):
            rejections.note(records, owners, faults)
            good = mask_without(faults, len(records))
            records, columns, keys = records.filter(good), columns.filter(good), keys.filter(good)
            owners = owners[np.asarray(good)]
        times = event_times(self.read, records.column("timestamp"), columns, self.now_ms)
        newest = _newest(times.of_column, owners)
        rows = Slice(
            task=pa.array(np.array([chunk.request.task for chunk in chunks], np.int32)[owners]),
            key=keys,
            time=times.times,
            tombstone=records.column(TOMBSTONE),
            source=pa.array(sources[owners]),
            offset=records.column("offset"),
            columns=tuple(columns.columns),
        )
        if times.ahead:
            rejections.note(records, owners, times.ahead)
            good = mask_without(times.ahead, len(records))
            rows, owners = rows.filter(good), owners[np.asarray(good)]
        return rows, owners, newest

    def _with_own_keys(
        self, records: pa.RecordBatch, owners: npt.NDArray[np.int64], rejections: "_Rejections"
    ) -> tuple[pa.RecordBatch, npt.NDArray[np.int64]]:
        """The records with the keys that they have of themselves, as rows have keys."""
        if not isinstance(self.form, KeyedFormat):
            return records.append_column(OWN_KEY, records.column("key")), owners
        keys = records.column("key")
        if HEADERS.name in records.schema.names:
            keys = with_header_frames(keys, records.column(HEADERS.name), KEY_HEADER)
        keys, faults, columns = self.form.read_keys(keys)
        records = records.append_column(OWN_KEY, keys)
        if columns is not None:
            records = records.append_column(KEY_COLUMNS, columns.to_struct_array())
        if not faults:
            return records, owners
        rejections.note(records, owners, faults)
        good = mask_without(faults, len(records))
        return records.filter(good), owners[np.asarray(good)]


def _with_tombstones(records: pa.RecordBatch, decoded: DecodedBatch) -> pa.RecordBatch:
    """The records that say which of them delete, and of what key."""
    records = records.append_column(TOMBSTONE, decoded.tombstones(records.column("value")))
    if decoded.deletions is None or decoded.deletions.keys is None:
        return records
    keys = pc.coalesce(records.column(OWN_KEY), key_bytes(decoded.deletions.keys))
    return records.set_column(records.schema.get_field_index(OWN_KEY), OWN_KEY, keys)


def rejected_records(
    records: pa.RecordBatch, stream: str, range_read: ReadRange, reasons: Mapping[int, str]
) -> tuple[RejectedRecord, ...]:
    """The records at these places, as they were read."""
    chosen = records.take(pa.array(list(reasons), pa.int64())).to_pylist()
    return tuple(
        RejectedRecord(
            stream,
            range_read.partition,
            record["offset"],
            reason,
            record["key"],
            record["value"],
            record["timestamp"],
            headers=record.get(HEADERS.name),
        )
        for record, reason in zip(chosen, reasons.values(), strict=True)
    )


def _first_timestamp(records: pa.RecordBatch) -> int | None:
    return records.column("timestamp")[0].as_py() if len(records) else None


class _Rejections:
    """The bad records of each chunk."""

    def __init__(self, stream: str, chunks: Sequence[RecordChunk]) -> None:
        self._stream, self._chunks = stream, chunks
        self._records: defaultdict[int, list[RejectedRecord]] = defaultdict(list)

    def note(
        self, records: pa.RecordBatch, owners: npt.NDArray[np.int64], reasons: Mapping[int, str]
    ) -> None:
        """Note what is wrong with the records at these places, each of which is of a chunk."""
        by_owner: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for place, reason in reasons.items():
            by_owner[int(owners[place])][place] = reason
        for owner, reasons_of_owner in by_owner.items():
            asked = self._chunks[owner].request.range
            self._records[owner] += rejected_records(records, self._stream, asked, reasons_of_owner)

    def of(self, chunk: int) -> tuple[RejectedRecord, ...]:
        """The bad records of one, in their order."""
        return tuple(sorted(self._records.get(chunk, ()), key=attrgetter("offset")))


@lru_cache(maxsize=10_000)
def _message(kind: int, body: bytes) -> Control | Refusal:
    """A control message; tasks say the same to every partition, and a lane reads many of these."""
    return decode_control_message(kind, body)


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def _newest(times: pa.Array | None, owners: npt.NDArray[np.int64]) -> Mapping[int, int]:
    """The newest time of each chunk that has one."""
    if times is None or times.null_count == len(times):
        return {}
    if times.null_count:
        owners = owners[np.asarray(times.is_valid())]
        times = times.drop_null()
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    newest = np.maximum.reduceat(times.to_numpy(), starts)
    return dict(zip(owners[starts].tolist(), newest.tolist(), strict=True))


def _keys(read: Read, keys: pa.Array, columns: pa.RecordBatch) -> pa.Array:
    """The record's own key; where it has none, the text of the column that is said to be its key."""
    if read.key is None or not keys.null_count:
        return keys
    return pc.coalesce(keys, key_bytes(columns.column(read.key)))
