"""Functions of the bytes of texts, each for a whole column."""

import hashlib
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc


def _each(column: pa.Array, function: Callable[[bytes], str | int], kind: pa.DataType) -> pa.Array:
    return pa.array([None if each is None else function(each) for each in column.to_pylist()], kind)


def _digest(name: str, column: pa.Array) -> pa.Array:
    return _each(column, lambda each: hashlib.new(name, each, usedforsecurity=False).hexdigest(), pa.string())


def _bits(column: pa.Array) -> pa.Array:
    return pc.multiply(pc.binary_length(column), pa.scalar(8, pa.int32()))


BYTES_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "octet_length": pc.binary_length,
    "bit_length": _bits,
    "md5": lambda column: _digest("md5", column),
    "sha1": lambda column: _digest("sha1", column),
    "sha2": lambda column, bits: _digest(f"sha{bits}", column),
    "crc32": lambda column: _each(column, zlib.crc32, pa.int64()),
    "hex": lambda column: _each(column, lambda each: each.hex().upper(), pa.string()),
}
