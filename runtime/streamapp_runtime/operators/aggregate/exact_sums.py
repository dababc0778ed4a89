"""Sums that never go round: taken in a wider type where their own may not hold them, and judged by group.

A total that does not fit concerns its group alone. Its rows are added up in their order, and those are named
with which the sum would leave its type.
"""

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, localcontext
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_MOST_DIGITS: Final = 76
_EXACT: Final = Context(prec=_MOST_DIGITS)
_WIDE_INTEGER: Final = pa.decimal128(38, 0)  # of more 64-bit integers than a machine has bytes


def summable(values: pa.Array, total: pa.DataType) -> pa.Array:
    """The values in a type in which their sum cannot go round: their own, where any sum of them fits."""
    if pa.types.is_floating(values.type):
        return values
    if pa.types.is_duration(values.type):
        values = values.cast(pa.int64())
    extremes = pc.min_max(values).as_py()
    if extremes["min"] is None:
        return values
    low, high = _bounds(total)
    with localcontext(_EXACT):
        fits = low <= extremes["min"] * len(values) and extremes["max"] * len(values) <= high
    return values if fits else widened(values, total)


def is_wide(totals: pa.Array, kind: pa.DataType) -> bool:
    """True if totals are in the wider type, and not known to fit their own."""
    return bool(totals.type == _wide(kind))


def widened(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values or totals in the type in which their sums are exact."""
    if pa.types.is_duration(values.type):
        values = values.cast(pa.int64())
    return values.cast(_wide(kind))


def narrowed(totals: pa.Array, kind: pa.DataType) -> pa.Array:
    """Totals that fit their own type, in that type."""
    if not is_wide(totals, kind):
        return totals
    return totals.cast(pa.int64()).cast(kind) if pa.types.is_duration(kind) else totals.cast(kind)


def misfits(totals: pa.Array, kind: pa.DataType) -> Flags:
    """A mask of the totals that their own type does not hold; null fits."""
    if not is_wide(totals, kind):
        return np.zeros(len(totals), bool)
    low, high = (pa.scalar(bound, totals.type) for bound in _bounds(kind))
    outside = pc.or_(pc.less(totals, low), pc.greater(totals, high))
    return np.asarray(pc.fill_null(outside, False))


def values_beyond(
    misfit: Flags, kind: pa.DataType, kept_sums: tuple[Numbers, pa.Array], fresh: tuple[Numbers, pa.Array]
) -> Mapping[int, Decimal]:
    """The fresh values, by their place, with which the sums of some groups leave their type, and these sums.

    Kept and fresh values each have the number of their group beside them. A value that is named is left out
    of the sums of those behind it.
    """
    sums: dict[int, Decimal] = {}
    beyond: dict[int, Decimal] = {}
    low, high = _bounds(kind)
    with localcontext(_EXACT):
        for values, excesses in ((kept_sums, dict[int, Decimal]()), (fresh, beyond)):
            places = np.flatnonzero(misfit[values[0]])
            exact: Sequence[Decimal | None] = widened(values[1].take(pa.array(places)), kind).to_pylist()
            for place, group, value in zip(places.tolist(), values[0][places].tolist(), exact, strict=True):
                total = sums.get(group, Decimal(0)) + (value or 0)
                if low <= total <= high:
                    sums[group] = total
                else:
                    excesses[place] = total
    return beyond


def excess_reason(text: str, total: Decimal, kind: pa.DataType) -> str:
    """The reason that is given for a row with which a total leaves its type."""
    name = f"DECIMAL({kind.precision},{kind.scale})" if pa.types.is_decimal(kind) else "its type"
    name = "BIGINT" if pa.types.is_integer(kind) else name
    return f"with it, {text or 'the sum'} of its group would be {total:f}, which {name} does not hold"


def _wide(kind: pa.DataType) -> pa.DataType:
    return pa.decimal256(_MOST_DIGITS, kind.scale) if pa.types.is_decimal128(kind) else _WIDE_INTEGER


def _bounds(kind: pa.DataType) -> tuple[Decimal, Decimal]:
    """The least and the greatest value of a type."""
    if pa.types.is_decimal(kind):
        digits = (9,) * kind.precision
        return Decimal((1, digits, -kind.scale)), Decimal((0, digits, -kind.scale))
    return Decimal(-(2**63)), Decimal(2**63 - 1)
