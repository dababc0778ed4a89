"""The order that Spark gives values of a type: not a number equals itself, and is greater than any number."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

EvaluatedValue = Any
"""A column, or a scalar where the value is the same for every row."""
_Comparer = Callable[[EvaluatedValue, EvaluatedValue], EvaluatedValue]


def compared(sign: str, left: EvaluatedValue, right: EvaluatedValue) -> EvaluatedValue:
    """True where `=`, `<`, `<=`, `>` or `>=` holds; null where a side is."""
    is_floating = pa.types.is_floating(left.type) or pa.types.is_floating(right.type)
    return (_FLOATING if is_floating else _SIGNS)[sign](left, right)


def _floating_equal(left: EvaluatedValue, right: EvaluatedValue) -> EvaluatedValue:
    return pc.or_(pc.equal(left, right), pc.and_(pc.is_nan(left), pc.is_nan(right)))


def _floating_less(left: EvaluatedValue, right: EvaluatedValue) -> EvaluatedValue:
    return pc.or_(pc.less(left, right), pc.and_not(pc.is_nan(right), pc.is_nan(left)))


_SIGNS: Final[Mapping[str, _Comparer]] = {
    "=": pc.equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_FLOATING: Final[Mapping[str, _Comparer]] = {
    "=": _floating_equal,
    "<": _floating_less,
    "<=": lambda left, right: pc.invert(_floating_less(right, left)),
    ">": lambda left, right: _floating_less(right, left),
    ">=": lambda left, right: pc.invert(_floating_less(left, right)),
}
