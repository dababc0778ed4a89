"""The types of Avro's binary form, each read for a whole batch of records into an Arrow array.

`rows` are places of records in the batch, ascending; a value is read of each. Where a record has a fault, its
value means nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from streamapp_runtime.formats.record_cursor import ENDS_EARLY, RecordCursor
from streamapp_runtime.formats.value_conversions import Convert, fitting
from streamapp_runtime.rows.row_form import Positions

_INT_RANGE: Final = np.iinfo(np.int32)
_DEEPEST: Final = 64


class WireType(Protocol):
    """A type of the writer's schema, and what of it becomes a column."""

    @property
    def type(self) -> pa.DataType:
        """The type of what is read."""

    @property
    def empty(self) -> bool:
        """True if a value takes no bytes."""

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The value of each row."""

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """Nothing but the positions behind the values."""


@dataclass(frozen=True, slots=True)
class WireNull:
    """No value."""

    type: pa.DataType
    empty: bool = True

    def read(self, _: RecordCursor, rows: Positions) -> pa.Array:
        """A null of the column's type for each row."""
        return pa.nulls(len(rows), self.type)

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """Nothing, as it takes no bytes."""


@dataclass(frozen=True, slots=True)
class WireRefusal:
    """A branch of a union that has no place in the column: a record that takes it is bad."""

    reason: str
    type: pa.DataType
    empty: bool = False

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """Refuse the rows."""
        self.skip(cursor, rows)
        return pa.nulls(len(rows), self.type)

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """Refuse the rows."""
        cursor.refuse(rows, self.reason)


@dataclass(frozen=True, slots=True)
class WireBoolean:
    """One byte, 0 or 1."""

    type: pa.DataType = pa.bool_()  # noqa: RUF009
    empty: bool = False

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The truth of each row."""
        octets = cursor.numbers(rows, "u1").astype(np.uint8)
        if (wrong := octets > 1).any():
            cursor.refuse(rows[wrong], "a boolean is neither 0 nor 1")
        return pa.array(octets == 1)

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """One byte of each row."""
        cursor.skip(rows, 1)


@dataclass(frozen=True, slots=True)
class WireLong:
    """A whole number of 64 bits, or of 32."""

    narrow: bool
    type: pa.DataType = pa.int64()  # noqa: RUF009
    empty: bool = False

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The number of each row."""
        values = cursor.longs(rows)
        if self.narrow and (wrong := (values < _INT_RANGE.min) | (values > _INT_RANGE.max)).any():
            cursor.refuse(rows[wrong], "an int has more than 32 bits")
        return pa.array(values)

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """The bytes of the numbers."""
        cursor.longs(rows)


@dataclass(frozen=True, slots=True)
class WireFloat:
    """A number of 4 or 8 bytes with a point."""

    type: pa.DataType
    empty: bool = False

    @property
    def form(self) -> str:
        """The form of the bytes."""
        return "<f4" if self.type == pa.float32() else "<f8"

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The number of each row."""
        return pa.array(cursor.numbers(rows, self.form))

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """The bytes of the numbers."""
        cursor.skip(rows, np.dtype(self.form).itemsize)


@dataclass(frozen=True, slots=True)
class WireBytes:
    """Bytes behind their number, or of a fixed number."""

    size: int | None = None
    type: pa.DataType = pa.binary()  # noqa: RUF009

    @property
    def empty(self) -> bool:
        """True if there are never any."""
        return self.size == 0

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The bytes of each row."""
        return cursor.octets(rows, self._sizes(cursor, rows))

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """The bytes and their number."""
        cursor.skip(rows, self._sizes(cursor, rows))

    def _sizes(self, cursor: RecordCursor, rows: Positions) -> Positions:
        return cursor.longs(rows) if self.size is None else np.full(len(rows), self.size)


@dataclass(frozen=True, slots=True)
class WireEnum:
    """The place of a symbol in the writer's list."""

    symbols: tuple[str, ...]
    type: pa.DataType = pa.string()  # noqa: RUF009
    empty: bool = False

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The symbol of each row."""
        places = cursor.longs(rows)
        if (wrong := (places < 0) | (places >= len(self.symbols))).any():
            cursor.refuse(rows[wrong], "an enum has no such symbol")
            places[wrong] = 0
        return pa.array(self.symbols, self.type).take(pa.array(places))

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """The bytes of the places."""
        cursor.longs(rows)


@dataclass(frozen=True, slots=True)
class WireConversion:
    """A value in another type than it was written in; one that does not fit makes its record bad."""

    wire: WireType
    convert: Convert
    type: pa.DataType
    fault: str

    @property
    def empty(self) -> bool:
        """True if a value takes no bytes."""
        return self.wire.empty

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The converted value of each row, null where it does not fit."""
        converted = fitting(self.wire.read(cursor, rows), self.convert)
        cursor.refuse(rows[converted.unfit], self.fault)
        return converted.values

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """The bytes of the values."""
        self.wire.skip(cursor, rows)


@dataclass(frozen=True, slots=True)
class WireUnion:
    """The place of a branch, and a value of it."""

    branches: tuple[WireType, ...]
    type: pa.DataType
    empty: bool = False

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The value of each row, whatever its branch."""
        pieces, places = [pa.nulls(0, self.type)], [np.zeros(0, np.int64)]
        for branch, at in self._by_branch(cursor, rows):
            pieces.append(branch.read(cursor, rows[at]))
            places.append(at)
        if len(pieces) == 2:
            return pieces[1]
        order = np.concatenate(places)
        source = np.empty(len(order), np.int64)
        source[order] = np.arange(len(order))
        return pa.concat_arrays(pieces).take(pa.array(source))

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """The value of each row, whatever its branch."""
        for branch, at in self._by_branch(cursor, rows):
            branch.skip(cursor, rows[at])

    def _by_branch(self, cursor: RecordCursor, rows: Positions) -> list[tuple[WireType, Positions]]:
        numbers = cursor.longs(rows)
        if (wrong := (numbers < 0) | (numbers >= len(self.branches))).any():
            cursor.refuse(rows[wrong], "a union has no such branch")
            numbers[wrong] = 0
        chosen = [(branch, np.flatnonzero(numbers == at)) for at, branch in enumerate(self.branches)]
        return [(branch, at) for branch, at in chosen if len(at)]


@dataclass(frozen=True, slots=True)
class WireRecord:
    """Fields behind each other, of which some become parts of the value."""

    fields: tuple[tuple[WireType, int | None], ...]  # and the place of each that is kept
    missing: tuple[tuple[int, pa.Array], ...]  # the one value of places that no field is kept at
    type: pa.StructType

    @property
    def empty(self) -> bool:
        """True if no field takes bytes."""
        return all(wire.empty for wire, _ in self.fields)

    def columns(self, cursor: RecordCursor, rows: Positions) -> list[pa.Array]:
        """The kept fields of each row, and what stands for missing ones."""
        always = pa.array(np.zeros(len(rows), np.int64))
        columns = {place: value.take(always) for place, value in self.missing}
        for wire, place in self.fields:
            if place is None:
                wire.skip(cursor, rows)
            else:
                columns[place] = wire.read(cursor, rows)
        return [columns[place] for place in range(self.type.num_fields)]

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The kept fields of each row as one value."""
        return pa.StructArray.from_arrays(self.columns(cursor, rows), fields=list(self.type))

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """All fields."""
        for wire, _ in self.fields:
            wire.skip(cursor, rows)


@dataclass(slots=True)
class WireSkipped:
    """A record of which nothing is kept. It may contain itself, and is known when all its fields are."""

    record: WireRecord | None = None
    empty: bool = False
    type: pa.DataType = field(default_factory=pa.null)

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """A null for each row."""
        self.skip(cursor, rows)
        return pa.nulls(len(rows))

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """All fields; a record is bad in which records are deeper within each other than calls may be."""
        if self.record is None:
            raise TypeError("the record has fields by now")
        if cursor.depth == _DEEPEST:
            cursor.refuse(rows, f"records are within each other more than {_DEEPEST} times")
            return
        cursor.depth += 1
        self.record.skip(cursor, rows)
        cursor.depth -= 1


@dataclass(frozen=True, slots=True)
class WireArray:
    """Items in blocks, each behind the number of its items."""

    item: WireType
    type: pa.DataType
    empty: bool = False

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The items of each row."""
        offsets, items = _items(cursor, rows, self.item)
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, self.type)

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """All blocks."""
        _blocks(cursor, rows, self.item.skip)


@dataclass(frozen=True, slots=True)
class WireMap:
    """Pairs of a text and a value, in blocks as the items of an array are."""

    pair: WireRecord
    type: pa.MapType
    empty: bool = False

    def read(self, cursor: RecordCursor, rows: Positions) -> pa.Array:
        """The pairs of each row; a row in which a key stands twice is bad."""
        offsets, pairs = _items(cursor, rows, self.pair)
        keys, values = pairs.field(0), pairs.field(1)
        codes = keys.dictionary_encode().indices.fill_null(0).to_numpy().astype(np.int64)
        owners = np.repeat(np.arange(len(rows)), np.diff(offsets))
        named = owners * (codes.max(initial=0) + 1) + codes
        _, firsts = np.unique(named, return_index=True)
        if len(firsts) < len(named):
            cursor.refuse(rows[np.unique(np.delete(owners, firsts))], "a map has a key twice")
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys.fill_null(""), values, self.type)

    def skip(self, cursor: RecordCursor, rows: Positions) -> None:
        """All blocks."""
        _blocks(cursor, rows, self.pair.skip)


def _items(cursor: RecordCursor, rows: Positions, wire: WireType) -> tuple[Positions, pa.Array]:
    """All items of all rows, those of a row behind each other, and where the items of each row begin."""
    pieces, owners = [pa.nulls(0, wire.type)], [np.zeros(0, np.int64)]

    def read(cursor: RecordCursor, some: Positions) -> None:
        pieces.append(wire.read(cursor, some))

    owners.extend(_blocks(cursor, rows, read))
    of_item = np.concatenate(owners)
    offsets = np.append(0, np.cumsum(np.bincount(of_item, minlength=len(rows))))
    items = pa.concat_arrays(pieces)
    return offsets, items.take(pa.array(np.argsort(of_item, kind="stable"))) if len(pieces) > 2 else items


def _blocks(
    cursor: RecordCursor, rows: Positions, read: Callable[[RecordCursor, Positions], None]
) -> list[Positions]:
    """Have the next item of each row read that has one, until none has; whose these were, step by step."""
    steps: list[Positions] = []
    unread = np.arange(len(rows))
    while len(unread):
        counts = cursor.longs(rows[unread])
        sized = unread[counts < 0]
        if len(sized):
            cursor.longs(rows[sized])  # the bytes of the block, for those who skip it
            counts = np.abs(counts)
        wrong = (counts < 0) | (counts > cursor.left(rows[unread]))  # an item has a byte at least
        if wrong.any():
            cursor.refuse(rows[unread[wrong]], ENDS_EARLY)
        unread, counts = unread[counts > 0], counts[counts > 0]
        some, left = unread, counts
        while len(some):
            left = np.where(cursor.left(rows[some]) > 0, left, 0)  # of one with a fault nothing is left
            some, left = some[left > 0], left[left > 0] - 1
            if len(some):
                read(cursor, rows[some])
                steps.append(some)
    return steps
