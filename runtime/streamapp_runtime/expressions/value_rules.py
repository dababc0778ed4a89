"""The rules of each kind of value that workers compute: when it fails, and when it is null.

Spark's optimizer drops an error, or keeps one, by what it knows of a value. A kind without rules fails the
import: taken for one that never fails, it would change results in silence.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    And,
    Arithmetic,
    ArrayContains,
    BytesFunction,
    Case,
    Cast,
    Coalesce,
    CollectionSize,
    ColumnValue,
    Comparison,
    Concat,
    Constant,
    DecimalArithmetic,
    ElementValue,
    Extreme,
    FieldValue,
    InList,
    IsNull,
    JoinedTexts,
    LikePattern,
    MapEntry,
    Negation,
    Not,
    NullSafeEquality,
    NullValue,
    NumberFunction,
    Or,
    RequiredValue,
    RowValue,
    Substring,
    TextFunction,
    TextTest,
    TimeConstant,
    narrows,
    parts_of,
)

_LEAST_OUTSIDE: Final = 128
"""The first whole number that some type of them has no place for."""


def may_fail(value: RowValue) -> bool:
    """True if there are rows on which computing a value is an error."""
    return _RULES[type(value)].fails(value) or any(map(may_fail, parts_of(value)))


def may_be_null_always(value: RowValue) -> bool:
    """True if Spark's optimizer might find that a value is null on all rows."""
    return _RULES[type(value)].is_null(value)


@dataclass(frozen=True, slots=True)
class ValueRules:
    """The rules of a kind of value."""

    fails: Callable[[Any], bool]  # on some rows, where its parts do not
    is_null: Callable[[Any], bool]  # on all rows, by what the optimizer might know


def _never(_: RowValue) -> bool:
    return False


def _always(_: RowValue) -> bool:
    return True


def _as_any_part(value: RowValue) -> bool:
    return any(map(may_be_null_always, parts_of(value)))


def _arithmetic_fails(value: Arithmetic) -> bool:
    if value.sign in ("/", "%", "div"):
        return _may_be_refused(value.sign, value.right)
    return value.type in WHOLE_TYPES


def _may_be_refused(sign: str, divisor: RowValue) -> bool:
    """True if a divisor may be zero, or -1 where the largest negative number has no opposite."""
    while isinstance(divisor, Cast):
        divisor = divisor.of
    return not isinstance(divisor, Constant) or divisor.value in ((0, -1) if sign == "div" else (0,))


def _overflows(value: Negation | NumberFunction) -> bool:
    return value.type in WHOLE_TYPES


def _number_function_fails(value: NumberFunction) -> bool:
    return value.function in ("abs", "floor", "ceil") and _overflows(value)


def _element_is_required(value: ElementValue) -> bool:
    return value.function in ("[]", "element_at")


def _case_is_null(value: Case) -> bool:
    if all(_varies(test) for test, _ in value.branches):
        return all(map(may_be_null_always, (*(result for _, result in value.branches), value.otherwise)))
    return _as_any_part(value)


def _varies(test: RowValue) -> bool:
    """True if a condition is surely nothing that the optimizer knows."""
    match test:
        case ColumnValue():
            return True
        case Comparison("=", ColumnValue(), Constant(value)):
            return not isinstance(value, int) or isinstance(value, bool) or abs(value) < _LEAST_OUTSIDE
        case Comparison("=", ColumnValue(), Cast(Constant(), _, kind)):
            return kind not in (*WHOLE_TYPES, "STRING", "BOOLEAN")
        case _:
            return False


_INFALLIBLE: Final = ValueRules(_never, _as_any_part)
_RULES: Final[Mapping[type, ValueRules]] = {
    ColumnValue: ValueRules(_never, _never),
    Constant: ValueRules(_never, _never),
    NullValue: ValueRules(_never, _always),
    TimeConstant: ValueRules(_never, _never),
    Comparison: _INFALLIBLE,
    TextTest: _INFALLIBLE,
    InList: _INFALLIBLE,
    IsNull: _INFALLIBLE,
    And: _INFALLIBLE,
    Or: _INFALLIBLE,
    Not: _INFALLIBLE,
    NullSafeEquality: _INFALLIBLE,
    Arithmetic: ValueRules(_arithmetic_fails, _as_any_part),
    DecimalArithmetic: _INFALLIBLE,
    Negation: ValueRules(_overflows, _as_any_part),
    NumberFunction: ValueRules(_number_function_fails, _as_any_part),
    Extreme: _INFALLIBLE,
    Cast: ValueRules(narrows, _as_any_part),
    Case: ValueRules(_never, _case_is_null),
    Coalesce: _INFALLIBLE,
    RequiredValue: ValueRules(_always, _as_any_part),
    Concat: _INFALLIBLE,
    JoinedTexts: _INFALLIBLE,
    TextFunction: _INFALLIBLE,
    BytesFunction: _INFALLIBLE,
    FieldValue: _INFALLIBLE,
    ElementValue: ValueRules(_element_is_required, _as_any_part),
    MapEntry: _INFALLIBLE,
    CollectionSize: _INFALLIBLE,
    ArrayContains: _INFALLIBLE,
    LikePattern: _INFALLIBLE,
    Substring: _INFALLIBLE,
}
if missing := set(get_args(RowValue)) - _RULES.keys():
    raise TypeError(f"no rules of {', '.join(sorted(kind.__name__ for kind in missing))}")
