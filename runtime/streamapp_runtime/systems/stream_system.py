"""The interface of every system of streams, and the values it speaks in.

A stream is known here by its topic; positions are offsets: the next record to read, or to be written.
Reads give Arrow, never an object per record. All writes of a lane in a batch, checkpoints included,
are one transaction.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from streamapp.tasks.partition import OffsetSpan
from streamapp_runtime.systems.topic_partition import TopicPartition

RECORDS = pa.schema([("key", pa.binary()), ("value", pa.binary()), ("timestamp", pa.int64())])
"""What is written: bytes or null; bytes, or null which deletes; milliseconds since the epoch, or null."""

STORED = pa.schema([("offset", pa.int64()), *RECORDS])
"""What is read: the same with each record's offset. Offsets grow; they may leave holes."""

HEADERS = pa.field("headers", pa.list_(pa.struct([("name", pa.string()), ("value", pa.binary())])))
"""A record's headers in their order, never null; names may stand twice, values may be null."""
RECORDS_WITH_HEADERS, STORED_WITH_HEADERS = RECORDS.append(HEADERS), STORED.append(HEADERS)
"""The same with headers: what is written where records have some, and read where somebody wants them."""


def has_headers(records: pa.RecordBatch) -> bool:
    """True if the records have a column of headers."""
    return HEADERS.name in records.schema.names


def check_records(partition: TopicPartition, records: pa.RecordBatch) -> pa.RecordBatch:
    """The same records; a ValueError where they are of another form than what is written."""
    if not (records.schema.equals(RECORDS) or records.schema.equals(RECORDS_WITH_HEADERS)):
        raise ValueError(f"records for {partition} have the schema {records.schema}, wanted is {RECORDS}")
    return records


def no_headers(records: int) -> pa.ListArray:
    """The headers of so many records that have none."""
    empty = pa.array([], HEADERS.type.value_type)
    return pa.ListArray.from_arrays(pa.array(np.zeros(records + 1, np.int32)), empty)


def without_empty_headers(records: pa.RecordBatch) -> pa.RecordBatch:
    """The same records, without the column of headers where none of them has any."""
    if not has_headers(records) or len(records.column(HEADERS.name).flatten()):
        return records
    return records.drop_columns([HEADERS.name])


def joined_records(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """All records in one batch, with headers where some of them have any."""
    if len(parts) == 1:
        return parts[0]
    if any(map(has_headers, parts)):
        parts = [
            part if has_headers(part) else part.append_column(HEADERS, no_headers(len(part)))
            for part in parts
        ]
    return pa.concat_batches(parts)


class HasFileno(Protocol):
    """An object that can be polled for input."""

    def fileno(self) -> int:
        """The number of the file."""


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Records of a partition: start <= offset < end."""

    partition: TopicPartition
    start: int
    end: int
    headers: bool = False  # they are read with the records


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """The options by which a stream keeps its records."""

    compacted: bool = False  # the newest record of each key stays, older ones may go
    retention_ms: int | None = None  # records older than this may go
    engine_owned: bool = field(default=False, compare=False)  # records stay until `delete_before` takes them

    def __str__(self) -> str:
        retention = "for ever" if self.retention_ms is None else f"for {self.retention_ms / 1000:g} s"
        return f"{'compacted' if self.compacted else 'not compacted'}, records kept {retention}"


DEFAULT_OPTIONS = StreamOptions()
"""Every record stays as long as the system is set up to keep it: on an embedded log, for ever."""


@dataclass(frozen=True, slots=True)
class StreamHolding:
    """The records and bytes that a stream holds, over all of its partitions."""

    partitions: int
    options: StreamOptions
    records: int  # at most so many: where records have gone or transactions were voided there are fewer
    size: int | None  # bytes, where they can be told


@dataclass(frozen=True, slots=True)
class SystemTrouble:
    """The trouble that keeps the calls of a process, and when it was seen last, as time.monotonic says."""

    text: str
    noted: float


class FencedError(Exception):
    """A newer incarnation has taken over, or a checkpoint is not what was expected: nothing was written."""


def unexpected_entry(owner: str, key: bytes) -> FencedError:
    """The error of a commit that rests on an entry of the owner's stream that is another one by now."""
    name = key.decode(errors="replace").removeprefix("\x00")
    return FencedError(f'the entry "{name}" in "{owner}" is not the expected one: it was written since')


class UnavailableError(Exception):
    """The system cannot be reached or is busy; trying again later may help."""


class FullError(UnavailableError):
    """There is no room for what was to be written: nothing of it was."""


class DeniedError(UnavailableError):
    """The system does not let us do this: credentials, permissions, or its release, have to be changed."""


def is_outage(error: BaseException | None) -> bool:
    """True if an error says only that the system does not answer: lack of room or of rights is another."""
    return isinstance(error, UnavailableError) and not isinstance(error, DeniedError | FullError)


class TransactionAbortableError(UnavailableError):
    """A transaction cannot be committed; once it is aborted the next one may go well."""


class RecordRefusedError(Exception):
    """The system does not take such a record, however often it is asked; the message says why."""


class UnfitStreamError(ValueError):
    """A stream is there and is not what it has to be; the message says what would fix it."""


class UnknownStreamError(Exception):
    """A stream or partition that does not exist was named."""


class OutOfRangeError(Exception):
    """Records that were asked for are no longer there: retention or truncation took them."""


VISIBILITY_SECONDS: Final = 0.25
"""How long it is waited for at most that readers see what was committed."""
_SIGHT_PAUSE_SECONDS: Final = 0.005
"""How long until it is asked again."""


class Transaction(Protocol):
    """Appends that become visible together, or not at all."""

    def append(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """Add records (schema RECORDS) to the end of a partition."""

    def append_uncommitted(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """Add records that are there before anything is committed, and may be seen then, or without a commit.

        For what may be written twice, but not be missing. A system may as well make them part of the rest.
        """

    def put(self, stream: str, key: bytes, value: bytes | None) -> None:
        """Add one record to partition 0 of a compacted stream, such as a checkpoint."""

    def end_of(self, partition: TopicPartition) -> int:
        """The end of what was appended to a partition: the offset after its last record, once committed.

        Only where nobody else writes to the partition meanwhile, as with a task's changelog.
        """

    def commit(self, seen_in: Collection[str] | None = None, /) -> Mapping[TopicPartition, int]:
        """Make everything visible; gives each partition's new end. FencedError when it may not.

        Readers of the streams `seen_in` see it as a rule when this returns, those of all streams where it is
        None; for others a system may take a moment.
        """

    def abort(self) -> None:
        """Drop everything."""


class StreamSystem(Protocol):
    """A system of streams. One object per process; used by one thread at a time."""

    def streams(self) -> Mapping[str, int]:
        """All streams with their partition counts."""

    def partitions(self, stream: str) -> int | None:
        """A stream's partition count; None when there is no such stream."""

    def identities(self, streams: Collection[str]) -> Mapping[str, str]:
        """The identity of each existing stream of these; a stream that is made again has another identity."""

    def holdings(self, streams: Collection[str] | None = None) -> Mapping[str, StreamHolding]:
        """Partitions, records and sizes of the existing streams of these, or of all streams."""

    def create(self, stream: str, partitions: int, options: StreamOptions = DEFAULT_OPTIONS) -> None:
        """Make a stream. One with the same count and options is left as it is; any other is a ValueError."""

    def grow(self, stream: str, partitions: int) -> None:
        """Add partitions; fewer than there are is a ValueError."""

    def spans(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, OffsetSpan]:
        """The offsets that each partition holds now, of committed records only."""

    def epoch_ends(self, epochs: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """The offset at which the history of a partition went on under a leader of a later epoch.

        Records of that epoch from there on are lost. Without those partitions of which nobody knows it.
        """

    def await_records(
        self, ends: Mapping[TopicPartition, int], seconds: float, wake: HasFileno | None = None
    ) -> bool:
        """Return once one of the partitions may end further on than here, or `wake` can be read.

        Or after so many seconds. False, at once or later, where the system cannot tell: who asks has to look.
        """

    def offsets_at(self, partitions: Iterable[TopicPartition], time_ms: int) -> Mapping[TopicPartition, int]:
        """The first record of each partition that is not older than a time; the end where there is none.

        A record without a time has that of its writing.
        """

    def open_transactions(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The partitions with writes that are neither visible nor void, and the offset of the first."""

    def read(
        self, partition: TopicPartition, start: int, end: int, *, headers: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """The committed records (schema STORED) with start <= offset < end, in order.

        With `headers` their schema is STORED_WITH_HEADERS.

        An OutOfRangeError when the range does not lie between the partition's oldest offset and its end.
        """

    def fetch_ahead(self, ranges: Sequence[OffsetRange]) -> None:
        """Say which ranges are read next, so that a system may ask for all of them at once.

        Nothing depends on it, and what is wrong with a range is said when it is read.
        """

    def latest(self, stream: str, *, settled: bool = True) -> Mapping[bytes, bytes]:
        """The newest value of every key of a compacted stream's partition 0; deleted keys are left out.

        Transactions that are open on the stream are waited for, an UnavailableError when that takes long.
        Unless `settled` is wanted: then what was committed before the first of them is enough. Settled values
        are as of the last `fence` of this process, and of the first `begin` of each of its writers, or newer.
        """

    def begin(
        self,
        owner: str,
        incarnation: int,
        expected: Mapping[bytes, bytes | None] | None = None,
        writer: str = "",
        *,
        at_least_once: bool = False,
    ) -> Transaction:
        """Open a transaction for a lane.

        `owner` is the checkpoint stream that fencing goes by. At commit at the latest the system checks that
        no higher incarnation was fenced for that owner and, where `expected` is given, that the newest values
        of those keys in the checkpoint stream are the ones named. `writer` is the name of who writes, one of
        those that a later fence will name; a writer has one transaction at a time.

        One that is to write `at_least_once` makes all appends visible before it commits what is put. What it
        compares it may compare at its beginning. A system may as well do what it always does.
        """

    def interrupt(self, owner: str, writers: Collection[str]) -> None:
        """Abort the open transactions of these writers, which hold up readers. The writers may begin anew."""

    def fence(self, owner: str, incarnation: int, writers: Collection[str] = ()) -> None:
        """From now on nothing of a lower incarnation commits for that owner; what was open is void.

        `writers` are all that may have anything open: each that ever began for this owner.
        """

    def delete_before(self, positions: Mapping[TopicPartition, int]) -> None:
        """Records below these positions are read by nobody any more and may go."""

    def trouble(self) -> SystemTrouble | None:
        """The trouble that calls of this process have waited for lately, and still do; None where none.

        Any thread may ask, while another one waits.
        """

    def throttled_seconds(self) -> float:
        """The seconds for which quotas have kept the calls of this process so far."""

    def tidy(self) -> None:
        """Do maintenance of the stored records, at a time without other work."""

    def close(self) -> None:
        """Let go of everything."""


class InvalidSettingsError(Exception):
    """Settings cannot be read or are not allowed; the message names them, and never says a value."""


def create_or_grow(system: StreamSystem, stream: str, partitions: int) -> int:
    """Make a stream that the engine owns, or add the partitions that it lacks; the count that it has then."""
    count = system.partitions(stream)
    if count is None:
        system.create(stream, partitions, StreamOptions(engine_owned=True))
    elif count < partitions:
        system.grow(stream, partitions)
    return max(count or 0, partitions)


def await_visibility(
    system: StreamSystem, partitions: Iterable[TopicPartition], seconds: float = VISIBILITY_SECONDS
) -> None:
    """Return when readers see what was committed, or after so long: another's transaction may be open."""
    until, awaited = time.monotonic() + seconds, list(partitions)
    while system.open_transactions(awaited) and time.monotonic() < until:
        time.sleep(_SIGHT_PAUSE_SECONDS)
