"""Reading: records of a stream's ranges as slices, decoded, with what could not be decoded set apart."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.control.control_message import Control, MessageKind
from streamapp.control.message_codec import decode_control_message
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.formats.message_envelope import open_envelopes
from streamapp_runtime.formats.record_format import RecordFormat
from streamapp_runtime.lanes.protocol.batch_orders import KnownRejection, ReadRange
from streamapp_runtime.lanes.protocol.traffic import size_of
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord
from streamapp_runtime.lanes.records.event_times import event_times
from streamapp_runtime.lanes.records.key_check import KeyCheck, key_bytes
from streamapp_runtime.lanes.records.version_end import VersionEnd, first_version_end
from streamapp_runtime.operators.stateless.stream_operations import Read, declared_stream
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.systems.stream_system import StreamSystem


@dataclass(frozen=True, slots=True)
class DecodedRecords:
    """The rows of some records, and what was wrong with others."""

    rows: Slice | None
    size: int
    bad: tuple[RejectedRecord, ...] = ()
    newest: int | None = None  # the newest event time, where a column tells it
    control: tuple[Control, ...] = ()  # what upstream tasks say, in order
    end: VersionEnd | None = None  # of the version that is read; what is behind it was left


@dataclass(frozen=True, slots=True)
class RequestedRange:
    """A range in the lane's order: whose it is, where it stands there, and which of its records are bad."""

    range: ReadRange
    task: int
    number: int
    known: Mapping[int, KnownRejection]  # by offset: the records that are known to be bad
    now_ms: int | None = None  # the time of the batch, which event times may not run far ahead of
    keys: KeyCheck | None = None  # what the records' keys are held against


def read_records(
    read: Read, form: RecordFormat, request: RequestedRange, system: StreamSystem
) -> Iterator[DecodedRecords]:
    """The rows of a range, batch by batch."""
    partition = Partition(read.topic, request.range.partition)
    for batch in system.read(partition, request.range.start, request.range.end):
        end = first_version_end(read, batch) if read.versions != "none" else None
        records = batch.slice(0, end.place) if end else batch
        is_known_bad = pc.is_in(records.column("offset"), pa.array(list(request.known), pa.int64()))
        if is_known_bad.true_count:
            yield _set_aside(read, records.filter(is_known_bad), request)
        yield _decoded(
            read,
            form,
            records.filter(pc.invert(is_known_bad)) if is_known_bad.true_count else records,
            request,
        )
        if end:
            yield DecodedRecords(None, 0, end=end)
            return


def reread_records(
    partition: Partition, read_range: ReadRange, reasons: Mapping[int, str], system: StreamSystem
) -> tuple[RejectedRecord, ...]:
    """Records of a range as they were read, by their offsets: what is bad about each was seen later."""
    offsets = pa.array(list(reasons), pa.int64())
    rejected: tuple[RejectedRecord, ...] = ()
    for records in system.read(partition, min(reasons), max(reasons) + 1):
        chosen = records.filter(pc.is_in(records.column("offset"), offsets))
        places = {place: reasons[offset] for place, offset in enumerate(chosen.column("offset").to_pylist())}
        rejected += _bad(chosen, declared_stream(read_range.stream), read_range, places)
    return rejected


def _set_aside(read: Read, records: pa.RecordBatch, request: RequestedRange) -> DecodedRecords:
    """Nothing of records that are known as bad."""
    known = [request.known[offset] for offset in records.column("offset").to_pylist()]
    reasons = {place: one.reason for place, one in enumerate(known)}
    bad = _bad(records, read.stream, request.range, reasons)
    bad = tuple(replace(record, cause=one.cause) for record, one in zip(bad, known, strict=True))
    return DecodedRecords(None, size_of(records.column("value")), bad)


def _decoded(
    read: Read, form: RecordFormat, records: pa.RecordBatch, request: RequestedRange
) -> DecodedRecords:
    if not read.enveloped:
        return _rows(read, form, records, request, size_of(records.column("value")))
    size = size_of(records.column("value"))
    opened = open_envelopes(records.column("value"))
    user = opened.types == MessageKind.USER
    control: list[Control] = []
    bad: list[RejectedRecord] = []
    places = np.flatnonzero(~user)
    control_bodies = zip(
        opened.types[places].tolist(), opened.values.take(pa.array(places)).to_pylist(), strict=True
    )
    for place, (kind, body) in zip(places.tolist(), control_bodies, strict=True):
        message = _message(kind, body)
        if isinstance(message, Refusal):
            bad += _bad(records, read.stream, request.range, {place: f"{message.message}; {message.hint}"})
        else:
            control.append(message)
    records = records.set_column(2, records.schema.field(2), opened.values)
    decoded = _rows(read, form, records if user.all() else records.filter(pa.array(user)), request, size)
    return replace(decoded, bad=(*bad, *decoded.bad), control=tuple(control))


@lru_cache(maxsize=10_000)
def _message(kind: int, body: bytes) -> Control | Refusal:
    """A control message; tasks say the same to every partition, and a lane reads many of these."""
    return decode_control_message(kind, body)


def _rows(
    read: Read, form: RecordFormat, records: pa.RecordBatch, request: RequestedRange, size: int
) -> DecodedRecords:
    decoded = form.decode(records.column("value"))
    columns = decoded.columns
    bad: tuple[RejectedRecord, ...] = ()
    if decoded.bad:
        bad = _bad(records, read.stream, request.range, {each.index: each.reason for each in decoded.bad})
        good = decoded.good()
        records, columns = records.filter(good), columns.filter(good)
    keys = _keys(read, records.column("key"), columns)
    faults = request.keys.faults(records, keys, columns) if request.keys else {}
    if faults:
        bad += _bad(records, read.stream, request.range, faults)
        good = _others(faults, len(records))
        records, columns, keys = records.filter(good), columns.filter(good), keys.filter(good)
    times = event_times(read, records.column("timestamp"), columns, request.now_ms)
    count = len(records)
    if times.ahead:
        bad += _bad(records, read.stream, request.range, times.ahead)
        good = _others(times.ahead, count)
    rows = Slice(
        task=pa.array(np.full(count, request.task, np.int32)),
        key=keys,
        time=times.times,
        tombstone=records.column("value").is_null(),
        source=pa.array(np.full(count, request.number, np.int32)),
        offset=records.column("offset"),
        columns=tuple(columns.columns),
    )
    bad = tuple(sorted(bad, key=attrgetter("offset")))
    return DecodedRecords(rows.filter(good) if times.ahead else rows, size, bad, times.newest)


def _others(places: Iterable[int], count: int) -> pa.BooleanArray:
    """Which of so many records are at none of these places."""
    others = np.ones(count, bool)
    others[list(places)] = False
    return pa.array(others)


def _bad(
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
        )
        for record, reason in zip(chosen, reasons.values(), strict=True)
    )


def _keys(read: Read, keys: pa.Array, columns: pa.RecordBatch) -> pa.Array:
    """The record's own key; where it has none, the text of the column that is said to be its key."""
    if read.key is None or not keys.null_count:
        return keys
    return pc.coalesce(keys, key_bytes(columns.column(read.key)))
