"""Functions whose calls are read without Spark: names, numbers of arguments, and what is computed of them."""

import math
from collections.abc import Sequence
from typing import Final

from streamapp_runtime.expressions.plain.plain_nested import NESTED_CALLS
from streamapp_runtime.expressions.plain.plain_operands import (
    arithmetic,
    branches_of,
    cast_value,
    compared,
    condition_of,
    null_safe,
    null_test,
    of_common_type,
    operand,
    sure,
)
from streamapp_runtime.expressions.plain.plain_texts import TEXT_CALLS
from streamapp_runtime.expressions.plain.plain_types import (
    ANY_NUMBER,
    NOTHING,
    Arguments,
    LeftToSparkError,
    PlainValue,
    as_type,
    require,
)
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    Coalesce,
    Constant,
    Extreme,
    Not,
    NullSafeEquality,
    NumberFunction,
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


_CASTS: Final = frozenset(name.lower() for name in (*WHOLE_TYPES, "DOUBLE", "STRING", "BOOLEAN"))


def _cast_function(function: str, arguments: Sequence[PlainValue]) -> PlainValue:
    return cast_value(arguments[0], function.upper())


def plain_call(function: str, arguments: Arguments) -> PlainValue:
    """The value that a call computes; LeftToSparkError where only Spark knows."""
    for functions, counts, read in CALLS:
        if function in functions and len(arguments) in counts:
            return read(function, arguments)
    raise LeftToSparkError


def _conditional(_: str, arguments: Arguments) -> PlainValue:
    condition, result, otherwise = arguments
    return branches_of([(condition_of(condition), result)], otherwise)


def _modulo(_: str, arguments: Arguments) -> PlainValue:
    return arithmetic("%", *arguments)


def _absolute(_: str, arguments: Arguments) -> PlainValue:
    (of,) = arguments
    require(of.type in {"INT", "BIGINT", "DOUBLE"} and reads_columns(of.value))
    return PlainValue(NumberFunction("abs", operand(of.value), of.type), of.type)


def _rounded(function: str, arguments: Arguments) -> PlainValue:
    (of,) = arguments
    require(of.type == "DOUBLE" and reads_columns(of.value))
    rounding = "floor" if function == "floor" else "ceil"
    return PlainValue(NumberFunction(rounding, operand(of.value), "BIGINT"), "BIGINT")


def _sign(_: str, arguments: Arguments) -> PlainValue:
    (of,) = arguments
    require(of.type in {*WHOLE_TYPES, "DOUBLE"})
    return PlainValue(NumberFunction("sign", operand(as_type(of, "DOUBLE")), "DOUBLE"), "DOUBLE")


def _extreme(function: str, arguments: Arguments) -> PlainValue:
    kind, values = of_common_type(arguments)
    return PlainValue(Extreme(">" if function == "greatest" else "<", values, kind), kind)


CALLS: Final = (
    ({"if"}, {3}, _conditional),
    ({"mod"}, {2}, _modulo),
    ({"abs"}, {1}, _absolute),
    ({"floor", "ceil", "ceiling"}, {1}, _rounded),
    ({"sign", "signum"}, {1}, _sign),
    ({"greatest", "least"}, ANY_NUMBER[1:], _extreme),
    *TEXT_CALLS,
    (_CASTS, {1}, _cast_function),
    *NULL_CALLS,
    *NESTED_CALLS,
)
