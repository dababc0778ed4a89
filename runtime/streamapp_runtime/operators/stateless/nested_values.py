"""Parts of structs, arrays and maps, computed for whole columns."""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.expressions.row_value import ConstantValue
from streamapp_runtime.operators.stateless.value_order import compared

_OUTSIDE: Final = (
    "Spark says: The index {} is out of bounds. The array has {} elements. Use {} to tolerate accessing "
    "element at invalid index and return NULL instead"
)
_TOLERANT: Final = {"[]": "the SQL function `get()`", "element_at": "`try_element_at`"}
_ZERO: Final = (
    "Spark says: The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1)"
)


def elements(arrays: pa.Array, indices: pa.Array, function: str) -> tuple[pa.Array, np.ndarray]:
    """The element of each array at an index, and the rows whose arrays have none there."""
    starts, lengths = _extents(arrays)
    has_both = np.asarray(pc.and_(arrays.is_valid(), indices.is_valid()))
    places = np.asarray(indices.fill_null(0))
    if function == "element_at":
        places = np.where(places > 0, places - 1, np.where(places < 0, places + lengths, -1))
    is_inside = has_both & (places >= 0) & (places < lengths)
    taken = arrays.values.take(pa.array(starts + np.where(is_inside, places, 0), mask=~is_inside))
    return taken, has_both & ~is_inside


def index_refused(function: str, index: int, length: int) -> str:
    """Spark's words for an index at which an array has no element."""
    if function == "element_at" and not index:
        return _ZERO
    return _OUTSIDE.format(index, length, _TOLERANT[function])


def entries(maps: pa.Array, key: ConstantValue) -> pa.Array:
    """The value that each map has for a key; the first one where a producer has given several."""
    return pc.map_lookup(maps, pa.scalar(key, maps.type.key_type), "first")


def sizes(collections: pa.Array) -> pa.Array:
    """The number of elements or entries of each collection; null where there is none."""
    return pa.array(_extents(collections)[1].astype(np.int32), mask=np.asarray(collections.is_null()))


def contains(arrays: pa.Array, wanted: pa.Array) -> pa.Array:
    """True for each array that has an element; null where it has not, and has a null."""
    starts, lengths = _extents(arrays)
    rows = np.repeat(np.arange(len(arrays)), lengths)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    flat = arrays.values.take(pa.array(np.repeat(starts, lengths) + within))
    equal = compared("=", flat, wanted.take(pa.array(rows)))
    has = np.bincount(rows[np.asarray(equal.fill_null(False))], minlength=len(arrays)) > 0
    has_null = np.bincount(rows[np.asarray(flat.is_null())], minlength=len(arrays)) > 0
    is_known = arrays.is_valid().to_numpy(False) & wanted.is_valid().to_numpy(False) & (has | ~has_null)
    return pa.array(has, mask=~is_known)


def _extents(collections: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The start of each collection's parts among all parts, and their number; 0 of what is null."""
    offsets = np.asarray(collections.offsets).astype(np.int64)
    return offsets[:-1], np.where(np.asarray(collections.is_valid()), np.diff(offsets), 0)
