"""Divisions of numbers and functions of doubles, as Java computes them."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_BEYOND: Final = 2.0**63


def divisors_of(divisors: pa.Array, number: int) -> np.ndarray:
    """True for each divisor that equals the number."""
    return np.asarray(pc.equal(divisors, pa.scalar(number, divisors.type)).fill_null(False))


def _without(divisors: pa.Array, *numbers: int) -> pa.Array:
    """Divisors with ones in place of some."""
    of_some = np.logical_or.reduce([divisors_of(divisors, number) for number in numbers])
    return (
        pc.if_else(pa.array(~of_some), divisors, pa.scalar(1, divisors.type)) if of_some.any() else divisors
    )


def _quotient(dividends: pa.Array, divisors: pa.Array) -> pa.Array:
    """Whole numbers; where one cannot be divided, the row has failed and its value does not matter."""
    is_opposite = divisors_of(divisors, -1)
    quotients = pc.divide(dividends, _without(divisors, 0, -1))
    if not is_opposite.any():
        return quotients
    return pc.if_else(pa.array(is_opposite), pc.negate(dividends), quotients)


def _remainder(dividends: pa.Array, divisors: pa.Array) -> pa.Array:
    """With the sign of what is divided; by -1 nothing remains, as by 1."""
    whole = pa.types.is_integer(dividends.type)
    divisors = _without(divisors, 0, -1) if whole else divisors
    missing = np.asarray(pc.or_(dividends.is_null(), divisors.is_null()))
    left, right = (np.asarray(side.fill_null(1)) for side in (dividends, divisors))
    with np.errstate(all="ignore"):
        return pa.array(np.fmod(left, right), dividends.type, mask=missing)


def rounded(function: str, numbers: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """`floor` or `ceil` as whole numbers, and where one has no place among these; not a number is 0."""
    values = _ROUNDINGS[function](np.asarray(numbers.fill_null(0.0)))
    outside = (values >= _BEYOND) | (values < -_BEYOND)
    whole = np.where(outside | np.isnan(values), 0.0, values).astype(np.int64)
    return pa.array(whole, pa.int64(), mask=np.asarray(numbers.is_null()) | outside), outside


def signs_of(numbers: pa.Array) -> pa.Array:
    """-1, 0 and 1, or what was neither of them: not a number, and a zero below 0."""
    values = np.asarray(numbers.fill_null(0.0))
    signs = np.where(values == 0, values, np.sign(values))
    return pa.array(signs, pa.float64(), mask=np.asarray(numbers.is_null()))


DIVISIONS: Final[Mapping[str, Callable[[pa.Array, pa.Array], pa.Array]]] = {
    "/": pc.divide,
    "div": _quotient,
    "%": _remainder,
}
_ROUNDINGS: Final[Mapping[str, Callable[[Any], Any]]] = {"floor": np.floor, "ceil": np.ceil}
