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
    found = _judged(predicate, columns)
    if isinstance(found, pa.Scalar):
        return pa.array(np.full(rows, bool(found.as_py())))
    return found.fill_null(False) if found.null_count else found


def _judged(predicate: Predicate, columns: Sequence[pa.Array]) -> EvaluatedValue:
    match predicate:
        case ColumnValue(position):
            found = columns[position]
        case Constant(value):
            found = _scalar(value)
        case Comparison(sign, left, right):
            found = _SIGNS[sign](_judged(left, columns), _judged(right, columns))
        case TextTest(test, of, text):
            found = _TESTS[test](_judged(of, columns), text)
        case InList(of, values):
            given = _judged(of, columns)
            known = pc.is_in(given, value_set=pa.array(values, _scalar(values[0]).type))
            found = pc.if_else(pc.is_valid(given), known, None)
        case IsNull(of):
            found = pc.is_null(_judged(of, columns))
        case And(left, right):
            found = pc.and_kleene(_judged(left, columns), _judged(right, columns))
        case Or(left, right):
            found = pc.or_kleene(_judged(left, columns), _judged(right, columns))
        case Not(of):
            found = pc.invert(_judged(of, columns))
    return found


def _scalar(value: str | int | bool) -> pa.Scalar:
    """Whole numbers are as wide as can be; Arrow widens what they are compared with."""
    return pa.scalar(value, pa.int64() if type(value) is int else None)
