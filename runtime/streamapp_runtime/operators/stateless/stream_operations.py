"""The reading and writing of streams."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.partitioner_names import DEFAULT_PARTITIONER, PartitionerName
from streamapp.spec.value_types.record_fields import RecordField
from streamapp.tasks.key_placement import KeyReliance
from streamapp_runtime.operators.operation import RowOperation

T = TypeVar("T")


class StreamRole(StrEnum):
    """Why a stream is read or written."""

    INPUT = "input"
    SIDE_INPUT = "sideInput"
    OUTPUT = "output"
    INTERMEDIATE = "intermediate"
    BROADCAST = "broadcast"


MADE_BY_APP = frozenset({StreamRole.INTERMEDIATE, StreamRole.BROADCAST})
"""Streams that the app makes between its stages: user records and control messages in one."""


HEADER_FIELDS = frozenset({RecordField.HEADERS, RecordField.HEADER_LIST})
"""What of a record is made of its headers."""


def side_name(stream: str, table: str) -> str:
    """The name of the reading of a stream into a table; no stream or operator has a name like it."""
    return f"{stream}>{table}"


def declared_stream(name: str) -> str:
    """The stream that is read under a name."""
    return name.partition(">")[0]


@dataclass(frozen=True, slots=True)
class Read(RowOperation):
    """Decode a stream's records into rows."""

    stream: str
    system: str
    topic: str
    role: StreamRole
    format: str
    columns: tuple[Column, ...]
    key: str | None = None  # the column that is the record's key
    event_time: str | None = None  # the column that is the row's time; the record's own when None
    table: str | None = None  # what it is read for, where it fills a table
    control: bool = False  # another app makes the stream, and tells in it how far it has come
    versions: str = "none"  # what ends a version of what is read: endOfStream or nullKey
    event_time_unit: str | None = None  # what an event time of whole numbers counts; None for a timestamp
    max_ahead: str | None = None  # how far an event time may be ahead of the clock
    reliance: KeyReliance = KeyReliance.NONE  # what is checked of its records' keys
    metadata: tuple[RecordField, ...] = ()  # what the last columns hold of the records; the others are values
    registry: bool = False  # a header may name the schema of a record
    traces: bool = False  # rows of its records come to a Write that passes headers of traces on
    key_columns: int = 0  # as many columns behind those of the values are parts of the records' keys
    registered_keys: bool = False  # keys say the id of their schema, before them or in a header

    @property
    def name(self) -> str:
        """The name in orders and checkpoints: each table is filled at its own pace."""
        return self.stream if self.table is None else side_name(self.stream, self.table)

    @property
    def value_columns(self) -> tuple[Column, ...]:
        """The columns that are in the records' values."""
        return self.columns[: len(self.columns) - len(self.metadata) - self.key_columns]

    @property
    def metadata_columns(self) -> tuple[Column, ...]:
        """The columns of `metadata`, which are the last."""
        return self.columns[len(self.columns) - len(self.metadata) :]

    @property
    def headers(self) -> bool:
        """True if headers of the records are read: for a column, for schemas, or to pass them on."""
        registered = self.registry or self.registered_keys
        return registered or self.traces or not HEADER_FIELDS.isdisjoint(self.metadata)

    @property
    def enveloped(self) -> bool:
        """True if a byte before each value says whose message it is."""
        return self.control or self.role in MADE_BY_APP


@dataclass(frozen=True, slots=True)
class Write(RowOperation):
    """Encode rows as a stream's records; their keys are the rows'."""

    stream: str
    system: str
    topic: str
    role: StreamRole
    format: str
    partitions: int | None = None  # of a stream that the app makes
    timestamp: bool = False  # the column behind those of the value is the record's time
    headers: bool = False  # the last column is the record's headers
    traces: bool = False  # its records have the headers of traces of those that they come of
    partitioner: PartitionerName = DEFAULT_PARTITIONER
    key_columns: tuple[Column, ...] = ()  # what keys of a registry are made of; it is behind the values

    def value_columns(self, columns: Sequence[T]) -> Sequence[T]:
        """Those of the rows' columns that are in the records' values."""
        return columns[: len(columns) - len(self.key_columns) - self.timestamp - self.headers]

    @property
    def enveloped(self) -> bool:
        """True if a byte before each value says whose message it is."""
        return self.role in MADE_BY_APP
