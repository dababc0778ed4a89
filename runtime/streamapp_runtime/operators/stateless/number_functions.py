"""Divisions of numbers and functions of doubles, as Java computes them."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_MOST_BIGINT: Final = 2**63 - 1


def divisors_of(divisors: pa.Array, number: int) -> np.ndarray:
    """Where a divisor is a number."""
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


def _whole(numbers: pa.Array, rounded: Callable[[Any], Any]) -> pa.Array:
    """As Java casts a double: not a number is 0, and what is too large is the largest there is."""
    values = rounded(np.asarray(numbers.fill_null(0.0)))
    too_large, too_small = values >= 2.0**63, values < -(2.0**63)
    inside = np.where(too_large | too_small | np.isnan(values), 0.0, values).astype(np.int64)
    bounded = np.where(too_large, _MOST_BIGINT, np.where(too_small, -_MOST_BIGINT - 1, inside))
    return pa.array(bounded, pa.int64(), mask=np.asarray(numbers.is_null()))


def _sign(numbers: pa.Array) -> pa.Array:
    values = np.asarray(numbers.fill_null(0.0))
    signs = np.where(values == 0, values, np.sign(values))
    return pa.array(signs, pa.float64(), mask=np.asarray(numbers.is_null()))


DIVISIONS: Final[Mapping[str, Callable[[pa.Array, pa.Array], pa.Array]]] = {
    "/": pc.divide,
    "div": _quotient,
    "%": _remainder,
}
ROUNDINGS: Final[Mapping[str, Callable[[pa.Array], pa.Array]]] = {
    "floor": lambda numbers: _whole(numbers, np.floor),
    "ceil": lambda numbers: _whole(numbers, np.ceil),
    "sign": _sign,
}
