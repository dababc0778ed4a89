"""The binary form of a row: what stands where.

    1 byte    the form's number
    n bytes   one bit per column, set where the value is null: column i is bit i % 8 of byte i // 8
    then      the values of columns of fixed width, in order of the columns, little endian, zero where null
    then      for each other column, in order, 4 bytes: how long its bytes are
    then      the bytes of those columns, one after the other

A list is 4 bytes with its number of elements, 4 bytes with the length of each, then the elements, each a row
of one column. A map is a list of rows of key and value, a struct is a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.runtime_durable_forms import ROW

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]


class RowFormError(ValueError):
    """Bytes that are no row of the schema, or a type that has no form."""


@dataclass(frozen=True, slots=True)
class RowLayout:
    """The places of a schema's columns in a row."""

    fixed: tuple[tuple[int, int, int], ...]  # column, where its value stands, its width
    varying: tuple[tuple[int, int], ...]  # column, where its length stands
    size: int  # of all that has a fixed width


@lru_cache(maxsize=512)
def row_layout(types: tuple[pa.DataType, ...]) -> RowLayout:
    """The layout of a row with columns of these types."""
    at = 1 + (len(types) + 7) // 8
    fixed, varying = [], []
    for column, kind in enumerate(types):
        width = width_of(kind)
        if width is not None:
            fixed.append((column, at, width))
            at += width
    for column, kind in enumerate(types):
        if width_of(kind) is None:
            varying.append((column, at))
            at += 4
    return RowLayout(tuple(fixed), tuple(varying), at)


@lru_cache(maxsize=512)
def null_row(types: tuple[pa.DataType, ...]) -> bytes:
    """The row in which every column is null."""
    form = row_layout(types)
    bits = sum(1 << number for number in range(len(types)))
    head = bytes([ROW.version]) + bits.to_bytes((len(types) + 7) // 8, "little")
    return head.ljust(form.size, b"\0")


def width_of(kind: pa.DataType) -> int | None:
    """Bytes that a value takes, None where that varies; RowFormError for a type that has no form."""
    if pa.types.is_boolean(kind):
        return 1
    if is_bytes(kind) or is_sequence(kind) or pa.types.is_struct(kind):
        return None
    if pa.types.is_primitive(kind) or pa.types.is_decimal128(kind) or pa.types.is_interval(kind):
        return int(kind.bit_width) // 8
    raise RowFormError(f"a column of type {kind} cannot be kept in a table")


def is_bytes(kind: pa.DataType) -> bool:
    """True if values are bytes or text."""
    return kind in {pa.binary(), pa.large_binary(), pa.string(), pa.large_string()}


def is_sequence(kind: pa.DataType) -> bool:
    """True if values are lists or maps."""
    return any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_map))


def element_types(kind: pa.DataType) -> tuple[pa.DataType, ...]:
    """The columns of the rows that the elements of a list or map are."""
    if pa.types.is_map(kind):
        return (kind.key_type, kind.item_type)
    return (kind.value_type,)


def types_of(fields: Sequence[pa.Field]) -> tuple[pa.DataType, ...]:
    """The types of fields, or of a schema."""
    return tuple(field.type for field in fields)


def schema_hash(schema: pa.Schema) -> str:
    """A hash that changes when rows of a schema would be misread by another: names, types, order and form."""
    described = [f"form {ROW.version}", *(f"{field.name}\0{field.type}" for field in schema)]
    return sha256("\n".join(described).encode()).hexdigest()[:32]
