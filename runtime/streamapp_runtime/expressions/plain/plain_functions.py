"""Functions whose calls are read without Spark: names, numbers of arguments, and what is computed of them."""

from typing import Final

from streamapp_runtime.expressions.plain.plain_casts import CAST_CALLS
from streamapp_runtime.expressions.plain.plain_nested import NESTED_CALLS
from streamapp_runtime.expressions.plain.plain_nulls import NULL_CALLS
from streamapp_runtime.expressions.plain.plain_operands import (
    arithmetic,
    branches_of,
    condition_of,
    of_common_type,
    operand,
)
from streamapp_runtime.expressions.plain.plain_texts import TEXT_CALLS
from streamapp_runtime.expressions.plain.plain_times import TIME_CALLS
from streamapp_runtime.expressions.plain.plain_types import (
    ANY_NUMBER,
    Arguments,
    LeftToSparkError,
    PlainValue,
    as_type,
    require,
)
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    Extreme,
    NumberFunction,
    reads_columns,
)


def plain_call(function: str, arguments: Arguments) -> PlainValue:
    """What a call computes; LeftToSparkError where only Spark knows."""
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
    *CAST_CALLS,
    *NULL_CALLS,
    *TIME_CALLS,
    *NESTED_CALLS,
)
