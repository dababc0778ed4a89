"""What totals are, said a row at a time."""

import math
from collections.abc import Callable, Sequence
from decimal import localcontext
from typing import Any


def counted(values: Sequence[Any]) -> int:
    return sum(value is not None for value in values)


def summed(values: Sequence[Any]) -> Any:
    present = [value for value in values if value is not None]
    with localcontext(prec=60):
        return sum(present[1:], present[0]) if present else None


def least(values: Sequence[Any]) -> Any:
    return min((value for value in values if value is not None), key=_order, default=None)


def greatest(values: Sequence[Any]) -> Any:
    return max((value for value in values if value is not None), key=_order, default=None)


FUNCTIONS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "count": counted,
    "sum": summed,
    "min": least,
    "max": greatest,
}


def comparable(values: Sequence[Any]) -> tuple[Any, ...]:
    """The values with a NaN that equals itself."""
    return tuple("NaN" if isinstance(value, float) and math.isnan(value) else value for value in values)


def _order(value: Any) -> Any:
    """NaN is greater than any other number."""
    if isinstance(value, float):
        return (math.isnan(value), 0.0 if math.isnan(value) else value)
    return value.encode() if isinstance(value, str) else value
