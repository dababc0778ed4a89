"""The reading of a batch of Protobuf records that have one writer's schema.

Behind the frame stand the indexes of the record's message: their number, and the place of each message among
those of the file or of the message around it, in the zigzag form. A zero alone is the first message.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
from google.protobuf.descriptor import FileDescriptor

from streamapp_runtime.formats.bad_record_isolation import rows_in_place
from streamapp_runtime.formats.protobuf.field_scan import Messages
from streamapp_runtime.formats.protobuf.field_types import MessageType
from streamapp_runtime.formats.protobuf.message_resolution import resolved
from streamapp_runtime.formats.read_records import ReadRecords, good_records
from streamapp_runtime.formats.record_cursor import RecordCursor, padded
from streamapp_runtime.registered_schema import UnresolvableSchemaError
from streamapp_runtime.rows.row_form import Bytes, Positions

_DEEPEST: Final = 32
_UNNAMED, _NOWHERE = -1, -2

MessagePath = tuple[int, ...]
"""The place of a message in its file, then that of each message within it."""


@dataclass(frozen=True, slots=True)
class ProtobufReader:
    """A writer's file, of which each record names a message."""

    file: FileDescriptor
    schema: pa.Schema
    required: Sequence[str]
    strict: bool = False  # a field that is no column makes the records of its message bad
    _messages: dict[MessagePath, MessageType | str] = field(default_factory=dict)

    def read(self, data: Bytes, starts: Positions, ends: Positions) -> ReadRecords:
        """The records between these places of the bytes; a record that has a fault costs no other one."""
        content = padded(data)
        cursor = RecordCursor(content, starts, ends)
        pieces, places, faults = list[pa.RecordBatch](), list[Positions](), dict[int, str]()
        for path, rows in _by_message(cursor):
            message = self._message(path)
            if isinstance(message, str):
                cursor.refuse(rows, message)
                continue
            every, behind = np.arange(len(rows)), ends[rows] - cursor.left(rows)
            messages = Messages(content, behind, ends[rows], every, every)
            columns = message.columns(messages)
            read = good_records(columns, self.schema, self.required, messages.faults)
            pieces.append(read.columns)
            places.append(rows[read.places])
            faults |= {int(rows[place]): fault for place, fault in read.faults.items()}
        good = np.concatenate([np.zeros(0, np.int64), *places])
        none = pa.RecordBatch.from_pylist([], schema=self.schema)
        columns = rows_in_place(pieces or [none], [np.argsort(np.argsort(good))], len(good))
        return ReadRecords(columns, np.sort(good), faults | cursor.faults)

    def _message(self, path: MessagePath) -> MessageType | str:
        """The message at a path, or why it cannot be read."""
        if path not in self._messages:
            self._messages[path] = self._resolved(path)
        return self._messages[path]

    def _resolved(self, path: MessagePath) -> MessageType | str:
        inner = list(self.file.message_types_by_name.values())
        message = None
        for place in path:
            if not 0 <= place < len(inner):
                return f"its indexes {list(path)} are those of no message of the schema"
            message = inner[place]
            inner = list(message.nested_types)
        if message is None:
            raise TypeError("a path has a place")
        others = [field.name for field in message.fields if field.name not in self.schema.names]
        if self.strict and others:
            return f'"{message.full_name}" has fields that are no columns: {", ".join(others)}'
        try:
            return resolved(message, self.schema)
        except UnresolvableSchemaError as unresolvable:
            return f'"{message.full_name}" cannot be read as the stream\'s columns: {unresolvable}'


def _by_message(cursor: RecordCursor) -> Iterator[tuple[MessagePath, Positions]]:
    """The paths of messages, each with the records that name it; the cursor stands behind their indexes."""
    counts = cursor.longs(np.arange(len(cursor)))
    unfit = (counts < 0) | (counts > _DEEPEST)
    cursor.refuse(np.flatnonzero(unfit), "its indexes are those of no message of the schema")
    counts[unfit] = 0
    paths = np.full((len(cursor), max(int(counts.max(initial=0)), 1)), _UNNAMED)
    paths[:, 0] = 0
    for place in range(paths.shape[1]):
        rows = np.flatnonzero(counts > place)
        named = cursor.longs(rows)
        paths[rows, place] = np.where(named < 0, _NOWHERE, named)
    every, owners = paths[:1], np.zeros(len(cursor), np.int64)
    if counts.any():
        every, owners = np.unique(paths, axis=0, return_inverse=True)
    bad = np.zeros(len(cursor), bool)
    bad[list(cursor.faults)] = True
    for number, path in enumerate(every.tolist()):
        rows = np.flatnonzero((owners == number) & ~bad)
        if len(rows):
            yield tuple(place for place in path if place != _UNNAMED), rows
