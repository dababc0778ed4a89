"""Predicates judged for whole columns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.expressions.predicate import (
    And,
    ColumnValue,
    Comparison,
    Constant,
    InList,
    IsNull,
    Not,
    Or,
    Predicate,
    TextTest,
)

EvaluatedValue = Any
"""A column, or a scalar where the value is the same for every row."""

_SIGNS: Final[Mapping[str, Callable[[EvaluatedValue, EvaluatedValue], EvaluatedValue]]] = {
    "=": pc.equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_TESTS: Final[Mapping[str, Callable[[EvaluatedValue, str], EvaluatedValue]]] = {
    "starts": pc.starts_with,
    "ends": pc.ends_with,
    "contains": pc.match_substring,
}


def evaluate_predicate(predicate: Predicate, columns: Sequence[pa.Array], rows: int) -> pa.BooleanArray:
    """For each row whether the predicate is true; what is null is not."""
    result = _judged(predicate, columns)
    if isinstance(result, pa.Scalar):
        return pa.array(np.full(rows, bool(result.as_py())))
    return result.fill_null(False) if result.null_count else result


def _judged(predicate: Predicate, columns: Sequence[pa.Array]) -> EvaluatedValue:
    match predicate:
        case ColumnValue(position):
            result = columns[position]
        case Constant(value):
            result = _scalar(value)
        case Comparison(sign, left, right):
            result = _SIGNS[sign](_judged(left, columns), _judged(right, columns))
        case TextTest(test, of, text):
            result = _TESTS[test](_judged(of, columns), text)
        case InList(of, values):
            operand = _judged(of, columns)
            is_listed = pc.is_in(operand, value_set=pa.array(values, _scalar(values[0]).type))
            result = pc.if_else(pc.is_valid(operand), is_listed, None)
        case IsNull(of):
            result = pc.is_null(_judged(of, columns))
        case And(left, right):
            result = pc.and_kleene(_judged(left, columns), _judged(right, columns))
        case Or(left, right):
            result = pc.or_kleene(_judged(left, columns), _judged(right, columns))
        case Not(of):
            result = pc.invert(_judged(of, columns))
    return result


def _scalar(value: str | int | bool) -> pa.Scalar:
    """Whole numbers are as wide as can be; Arrow widens what they are compared with."""
    return pa.scalar(value, pa.int64() if type(value) is int else None)
