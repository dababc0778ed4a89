"""Functions of nulls, and of numbers that stand for none."""

import math
from typing import Final

from streamapp_runtime.expressions.plain.plain_operands import (
    branches_of,
    compared,
    null_safe,
    null_test,
    of_common_type,
    sure,
)
from streamapp_runtime.expressions.plain.plain_types import (
    ANY_NUMBER,
    NOTHING,
    Arguments,
    PlainValue,
    as_type,
    require,
)
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    Coalesce,
    Constant,
    Not,
    NullSafeEquality,
    reads_columns,
)

_ZERO: Final = PlainValue(Constant(0), "INT")
_NUMBERS: Final = (*WHOLE_TYPES, "DOUBLE")


def _is_null(function: str, arguments: Arguments) -> PlainValue:
    test = null_test(arguments[0])
    return PlainValue(Not(test) if function == "isnotnull" else test, "BOOLEAN")


def _is_nan(_: str, arguments: Arguments) -> PlainValue:
    (of,) = arguments
    require(of.type in {*_NUMBERS, "FLOAT"})
    number = of.value if of.type == "FLOAT" else as_type(of, "DOUBLE")
    return PlainValue(NullSafeEquality(sure(number), Constant(math.nan)), "BOOLEAN")


def _first_value(_: str, arguments: Arguments) -> PlainValue:
    kind, values = of_common_type(arguments)
    require(reads_columns(values[0]))
    return PlainValue(Coalesce(values, kind), kind)


def _zero_if_null(function: str, arguments: Arguments) -> PlainValue:
    require(arguments[0].type in _NUMBERS)
    return _first_value(function, (*arguments, _ZERO))


def _by_null(_: str, arguments: Arguments) -> PlainValue:
    of, result, otherwise = arguments
    return branches_of([(Not(null_test(of)), result)], otherwise)


def _nullif(_: str, arguments: Arguments) -> PlainValue:
    value, other = arguments
    sure(value.value)  # Spark may compute it once, before all others
    return branches_of([(compared("=", value, other), NOTHING)], value)


def _null_if_zero(function: str, arguments: Arguments) -> PlainValue:
    require(arguments[0].type in _NUMBERS)
    return _nullif(function, (*arguments, _ZERO))


def _equal_null(_: str, arguments: Arguments) -> PlainValue:
    return PlainValue(null_safe(*arguments), "BOOLEAN")


NULL_CALLS: Final = (
    ({"coalesce"}, ANY_NUMBER, _first_value),
    ({"nvl", "ifnull"}, {2}, _first_value),
    ({"nullif"}, {2}, _nullif),
    ({"isnull", "isnotnull"}, {1}, _is_null),
    ({"isnan"}, {1}, _is_nan),
    ({"nvl2"}, {3}, _by_null),
    ({"zeroifnull"}, {1}, _zero_if_null),
    ({"nullifzero"}, {1}, _null_if_zero),
    ({"equal_null"}, {2}, _equal_null),
)
