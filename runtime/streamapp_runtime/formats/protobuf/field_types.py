"""The types of Protobuf's fields, each read for many messages into an Arrow array.

Where a record has a fault, its value means nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.formats.protobuf.field_scan import (
    NOWHERE,
    SIZED,
    WIDTHS,
    Messages,
    Occurrences,
    joined,
)
from streamapp_runtime.formats.record_cursor import ENDS_EARLY, RecordCursor
from streamapp_runtime.formats.value_conversions import Convert, fitting
from streamapp_runtime.rows.byte_columns import cut, numbers
from streamapp_runtime.rows.row_form import Positions

Found = Mapping[int, Occurrences]
"""The occurrences of fields by their tags."""
PlainReading = Callable[[Messages, Occurrences], pa.Array]
"""The reading of values as they are written."""


class ElementType(Protocol):
    """A type of values, each of which is written somewhere."""

    @property
    def type(self) -> pa.DataType:
        """The type of what is read."""

    @property
    def wire(self) -> int:
        """The way it is written, as tags say it."""

    def read(
        self, messages: Messages, occurrences: Occurrences, targets: Positions, records: Positions
    ) -> pa.Array:
        """A value for each record: that of the last occurrence that has it as its target."""


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A value without parts."""

    wire: int
    plain: PlainReading
    type: pa.DataType
    convert: Convert | None
    fault: str

    def read(
        self, messages: Messages, occurrences: Occurrences, targets: Positions, records: Positions
    ) -> pa.Array:
        """The value of each target, null where it has none."""
        values = self.plain(messages, occurrences)
        if self.convert:
            values, unfit = fitting(values, self.convert)
            messages.refuse(occurrences.messages[unfit], self.fault)
        if len(targets) == len(records) and (targets == np.arange(len(targets))).all():
            return values
        source = np.full(len(records), -1)
        source[targets] = np.arange(len(targets))  # the last one counts
        return values.take(pa.array(source, mask=source < 0))


@dataclass(frozen=True, slots=True)
class MessageType:
    """Fields, of which each becomes a part of the value."""

    fields: tuple["ReadableField", ...]
    type: pa.StructType
    oneofs: tuple[tuple[int, ...], ...] = ()  # the tags of fields of which only the last one counts

    def columns(self, messages: Messages) -> list[pa.Array]:
        """The parts of each message."""
        wanted = {tag for field in self.fields for tag in field.tags}
        occurrences = dict(messages.scan(wanted.union(*self.oneofs)))
        for tags in self.oneofs:
            _leave_last(occurrences, tags, len(messages))
        return [field.read(messages, occurrences) for field in self.fields]


@dataclass(frozen=True, slots=True)
class EmbeddedType:
    """A message within another, as a struct or as what its meaning is."""

    message: MessageType
    type: pa.DataType
    convert: Convert | None = None
    fault: str = ""
    wire: int = SIZED

    def read(
        self, messages: Messages, occurrences: Occurrences, targets: Positions, records: Positions
    ) -> pa.Array:
        """A message for each target; an empty one where there is none."""
        inner = Messages(
            messages.data, occurrences.starts, occurrences.ends, targets, records, messages.faults
        )
        parts = self.message.columns(inner)
        values = (
            pa.StructArray.from_arrays(parts, fields=list(self.message.type))
            if parts
            else pa.array([{}] * len(records), self.message.type)
        )
        if self.convert:
            values, unfit = fitting(values, self.convert)
            inner.refuse(unfit, self.fault)
        return values


class ReadableField(Protocol):
    """A field of a message."""

    @property
    def tags(self) -> tuple[int, ...]:
        """The tags that its values are written behind."""

    def read(self, messages: Messages, occurrences: Found) -> pa.Array:
        """The value of each message."""


@dataclass(frozen=True, slots=True)
class MissingField:
    """A column that the schema has no field for."""

    type: pa.DataType
    tags: tuple[int, ...] = ()

    def read(self, messages: Messages, _: Found) -> pa.Array:
        """Nulls."""
        return pa.nulls(len(messages), self.type)


@dataclass(frozen=True, slots=True)
class SingularField:
    """A field that has one value, or a default one, or none."""

    number: int
    element: ElementType
    default: pa.Scalar | None

    @property
    def tags(self) -> tuple[int, ...]:
        """The only one."""
        return (self.number << 3 | self.element.wire,)

    def read(self, messages: Messages, occurrences: Found) -> pa.Array:
        """The value that is written last."""
        places = occurrences.get(self.tags[0], NOWHERE)
        values = self.element.read(messages, places, places.messages, messages.records)
        filled = self.default is not None and values.null_count
        return values.fill_null(self.default) if filled else values


@dataclass(frozen=True, slots=True)
class MessageField:
    """A message within the message; those of entries of maps are always there."""

    number: int
    element: EmbeddedType
    always: bool

    @property
    def tags(self) -> tuple[int, ...]:
        """The only one."""
        return (self.number << 3 | SIZED,)

    def read(self, messages: Messages, occurrences: Found) -> pa.Array:
        """The message, null where there is none."""
        places = occurrences.get(self.tags[0], NOWHERE)
        values = self.element.read(messages, places, places.messages, messages.records)
        written = np.zeros(len(messages), bool)
        written[places.messages] = True
        if self.always or written.all():
            return values
        return values.take(pa.array(np.arange(len(messages)), mask=~written))


@dataclass(frozen=True, slots=True)
class RepeatedField:
    """Any number of values, packed or one by one."""

    number: int
    element: ElementType
    type: pa.ListType

    @property
    def tags(self) -> tuple[int, ...]:
        """That of each value, and that of packed ones."""
        single, packed = self.number << 3 | self.element.wire, self.number << 3 | SIZED
        return (single,) if single == packed else (single, packed)

    def read(self, messages: Messages, occurrences: Found) -> pa.Array:
        """The values of each message."""
        offsets, items = self.items(messages, occurrences)
        return pa.ListArray.from_arrays(offsets, items, self.type)

    def items(self, messages: Messages, occurrences: Found) -> tuple[pa.Array, pa.Array]:
        """All values, those of a message behind each other, and where the values of each begin."""
        single, *packed = self.tags
        parts = [occurrences.get(single, NOWHERE)]
        parts += [
            _unpacked(messages, occurrences[tag], self.element.wire) for tag in packed if tag in occurrences
        ]
        places = joined(parts)
        places = places.at(np.lexsort((places.order, places.messages)))
        every = np.arange(len(places.messages))
        items = self.element.read(messages, places, every, messages.records[places.messages])
        offsets = np.append(0, np.cumsum(np.bincount(places.messages, minlength=len(messages))))
        return pa.array(offsets, pa.int32()), items


@dataclass(frozen=True, slots=True)
class MapField:
    """Entries of a key and a value, of which the last one of each key counts."""

    entries: RepeatedField
    type: pa.MapType

    @property
    def tags(self) -> tuple[int, ...]:
        """That of entries."""
        return self.entries.tags

    def read(self, messages: Messages, occurrences: Found) -> pa.Array:
        """The entries of each message."""
        offsets, entries = self.entries.items(messages, occurrences)
        owners = np.repeat(np.arange(len(messages)), np.diff(offsets))
        keys = pc.struct_field(entries, [0])
        keys = keys.fill_null(_ZEROES[keys.type]) if keys.null_count else keys  # of records with a fault
        codes = keys.dictionary_encode().indices.to_numpy().astype(np.int64)
        named = (owners * (codes.max(initial=0) + 1) + codes)[::-1]
        _, firsts = np.unique(named, return_index=True)
        if len(firsts) < len(named):
            last = np.sort(len(named) - 1 - firsts)
            counts = np.bincount(owners[last], minlength=len(messages))
            offsets, entries = np.append(0, np.cumsum(counts)), entries.take(pa.array(last))
            keys = keys.take(pa.array(last))
        return pa.MapArray.from_arrays(
            pa.array(offsets, pa.int32()), keys, pc.struct_field(entries, [1]), self.type
        )


_ZEROES: Final = {kind: pa.scalar(0, kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())} | {
    pa.string(): pa.scalar(""),
    pa.bool_(): pa.scalar(value=False),
}
"""The keys of maps, by the types that these may have."""


def of_varints(
    convert: Callable[[npt.NDArray[np.uint64]], npt.NDArray[np.generic]],
) -> PlainReading:
    """The values of numbers of variable length."""
    return lambda _, occurrences: pa.array(convert(occurrences.values))


def of_width(form: str) -> PlainReading:
    """The values of numbers of fixed width."""
    return lambda messages, occurrences: pa.array(numbers(messages.data, occurrences.starts, form))


def of_bytes(messages: Messages, occurrences: Occurrences) -> pa.BinaryArray:
    """The bytes behind their number."""
    starts, ends = occurrences.starts, occurrences.ends
    if (starts[1:] >= starts[:-1]).all():
        return cut(messages.data, starts, ends)
    order = np.argsort(starts, kind="stable")
    return cut(messages.data, starts[order], ends[order]).take(pa.array(np.argsort(order)))


def _leave_last(occurrences: dict[int, Occurrences], tags: tuple[int, ...], count: int) -> None:
    """Leave the occurrences behind the last one of another field of the same oneof."""
    written = {tag: occurrences[tag] for tag in tags if tag in occurrences}
    for tag, places in written.items():
        others = joined([each for other, each in written.items() if other != tag])
        last = np.full(count, -1)
        np.maximum.at(last, others.messages, others.order)
        occurrences[tag] = places.at(places.order > last[places.messages])


def _unpacked(messages: Messages, occurrences: Occurrences, wire: int) -> Occurrences:
    """The values that are written behind each other, each for itself."""
    sizes = occurrences.ends - occurrences.starts
    if wire in WIDTHS:
        unfit = sizes % WIDTHS[wire] != 0
    else:
        unfit = (sizes > 0) & (messages.data[occurrences.ends - 1] > 0x7F)
    if unfit.any():
        messages.refuse(occurrences.messages[unfit], ENDS_EARLY)
        return _unpacked(messages, occurrences.at(~unfit), wire)
    starts, owners = _each_byte(occurrences.starts, sizes), np.repeat(np.arange(len(sizes)), sizes)
    if wire in WIDTHS:
        values = starts[:: WIDTHS[wire]].view(np.uint64)
        owners = owners[:: WIDTHS[wire]]
    else:
        last = messages.data[starts] < 0x80
        first = np.append(True, last[:-1])[: len(last)]
        owners = owners[first]
        cursor = RecordCursor(messages.data, starts[first], starts[last] + 1)
        values = cursor.varints(np.arange(len(cursor)))
        for place, fault in cursor.faults.items():
            messages.refuse(occurrences.messages[owners[[place]]], fault)
    return Occurrences(
        occurrences.messages[owners], occurrences.order[owners], values, np.zeros(len(owners), np.int64)
    )


def _each_byte(starts: Positions, sizes: Positions) -> Positions:
    """The places of all bytes of pieces."""
    before = np.cumsum(sizes) - sizes
    places: Positions = np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
    return places
