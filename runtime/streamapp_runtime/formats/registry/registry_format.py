"""The formats of a schema registry: each record names the schema that it was written by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import pyarrow as pa

from streamapp.spec.problem import short
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.bad_record_isolation import rows_in_place
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.read_records import SchemaReader
from streamapp_runtime.formats.record_format import DecodedBatch, UndecodableRecord
from streamapp_runtime.formats.registry.schema_frames import numbered_frame, split_frames
from streamapp_runtime.registered_schema import (
    RegisteredSchema,
    SchemaCompilerError,
    SchemaId,
    SchemaLookup,
    UnknownSchemaError,
    UnresolvableSchemaError,
    shown_id,
)
from streamapp_runtime.rows.byte_columns import byte_spans
from streamapp_runtime.rows.row_form import Positions

T = TypeVar("T")

Reading = Callable[[RegisteredSchema], SchemaReader]
"""The reader of the records of a schema; UnresolvableSchemaError where it does not fit the columns."""
Encode = Callable[[pa.RecordBatch], pa.BinaryArray]
"""The value of each row behind its frame; ValueError where the schema has no place for it."""

_EIGHT_BYTES: Final = (
    "schema id 0, which no registry gives: the ids of its serializer have eight bytes; set it to four"
)


@dataclass(frozen=True, slots=True)
class SchemaColumns:
    """The columns into which all records of a schema can be read, and the fields that no column holds."""

    columns: pa.Schema
    left_out: Mapping[str, str]  # by the field's path: why


def held_fields(
    fields: Mapping[str, T],
    type_of: Callable[[T, str], pa.DataType],
    path: str,
    empty: str,
    left_out: dict[str, str],
) -> pa.StructType:
    """The column of fields, each by its type at its path; those that no column holds are left out.

    UnresolvableSchemaError with the reason `empty` where none is held.
    """
    held: dict[str, pa.DataType] = {}
    for name, field in fields.items():
        try:
            held[name] = type_of(field, f"{path}.{name}" if path else name)
        except UnresolvableSchemaError as unresolvable:
            left_out[unresolvable.path] = unresolvable.reason
    if not held:
        raise UnresolvableSchemaError(path, empty)
    return pa.struct(list(held.items()))


@dataclass(frozen=True, slots=True)
class RegisteredKind:
    """A kind of schemas, and how records are read and written by these."""

    format: str
    name: str  # as a registry says it
    title: str
    reading: Callable[[Sequence[Column], FormatOptions], Reading]
    writing: Callable[[ResolvedWriterSchema, bytes, FormatOptions], Encode]  # behind a frame
    own_schema: Callable[[pa.Schema], str]
    """A schema of columns, for streams that bring none; UnresolvableSchemaError where one has no place."""
    check_writable: Callable[[pa.Schema, ResolvedWriterSchema], None]
    """UnresolvableSchemaError where a column has no place in the schema, or a field no value."""
    columns: Callable[[RegisteredSchema], SchemaColumns]
    """The columns of a schema; UnresolvableSchemaError where it has no fields."""


class RegistryFormat:
    """Records behind the frame of a registry, each read by its own schema as the stream's columns.

    What a registry says of a schema is said of its records: they are bad. That it cannot be asked is an error
    of the batch, as where a system cannot be reached. Records may name schemas of the `others`, too; they are
    written by the first kind.
    """

    def __init__(
        self,
        kind: RegisteredKind,
        columns: Sequence[Column],
        options: FormatOptions,
        schemas: SchemaLookup | None,
        others: Sequence[RegisteredKind] = (),
    ) -> None:
        self.schema = arrow_schema(columns)
        self._kinds, self._schemas = {each.name: each for each in (kind, *others)}, schemas
        self._resolve = {each.name: each.reading(columns, options) for each in (kind, *others)}
        writer = options.writer
        self._encode = None if writer is None else kind.writing(writer, numbered_frame(writer.id), options)
        self._readers: dict[SchemaId, SchemaReader | str] = {}

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The columns of each value, behind its frame."""
        rows, spans = np.flatnonzero(values.is_valid()), byte_spans(values)
        groups, bad = split_frames(spans, rows)
        pieces, places = list[pa.RecordBatch](), list[Positions]()
        for group in groups:
            reader = self._reader(group.schema_id)
            if isinstance(reader, str):
                bad |= dict.fromkeys(group.rows.tolist(), reader)
                continue
            read = reader.read(spans.data, group.starts, spans.bounds[1:][group.rows])
            pieces.append(read.columns)
            places.append(group.rows[read.places])
            name = shown_id(group.schema_id)
            bad |= {int(group.rows[place]): f"{name}: {fault}" for place, fault in read.faults.items()}
        none = pa.RecordBatch.from_pylist([], schema=self.schema)
        columns = rows_in_place(pieces or [none], places, len(values))
        return DecodedBatch(columns, tuple(UndecodableRecord(row, bad[row]) for row in sorted(bad)))

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The value of each row, behind its frame; ValueError where the schema has no place for it."""
        if self._encode is None:
            raise ValueError("no schema to write by was asked for; give records as bytes, behind their frame")
        return self._encode(columns)

    def resolved(self, registered: RegisteredSchema, name: str) -> SchemaReader | str:
        """The reader of a schema of this name, or why there is none."""
        kind = self._kinds.get(registered.kind)
        if kind is None:
            formats = " or ".join(each.format for each in self._kinds.values())
            return f"{name} is of {registered.kind}, and the stream's format is {formats}"
        if registered.rules:
            rules = ", ".join(registered.rules)
            return f"{name} has rules that readers have to apply, and none is applied here: {short(rules)}"
        try:
            return self._resolve[kind.name](registered)
        except SchemaCompilerError:
            raise
        except UnresolvableSchemaError as unresolvable:
            return f"{name} cannot be read as the stream's columns: {unresolvable}"
        except Exception as wrong:  # fastavro has no common class for what may be wrong with a schema
            words = short(str(wrong) or type(wrong).__name__, 200)
            return f"{name} is no {kind.title} schema: {words}"

    def _reader(self, schema_id: SchemaId) -> SchemaReader | str:
        """The reader of a schema, or why there is none; one that is not known is asked for again."""
        if schema_id == 0:
            return _EIGHT_BYTES
        if schema_id not in self._readers:
            if self._schemas is None:
                raise TypeError("no registry was given")
            try:
                registered = self._schemas.schema(schema_id)
            except UnknownSchemaError as unknown:
                return str(unknown)
            self._readers[schema_id] = self.resolved(registered, shown_id(schema_id))
        return self._readers[schema_id]
