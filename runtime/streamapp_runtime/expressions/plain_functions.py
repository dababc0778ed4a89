"""Functions whose calls are read without Spark: names, numbers of arguments, and what is computed of them."""

from collections.abc import Sequence
from typing import Final

from streamapp_runtime.expressions.plain_operands import (
    arithmetic,
    branches_of,
    compared,
    condition_of,
    constant_of,
    operand,
    operands,
    sure,
    text_of,
)
from streamapp_runtime.expressions.plain_types import (
    NOTHING,
    LeftToSparkError,
    PlainValue,
    as_type,
    common_type,
    require,
)
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    Coalesce,
    Concat,
    Extreme,
    NumberFunction,
    Substring,
    TextFunction,
    TextTest,
    reads_columns,
)

Arguments = Sequence[PlainValue]
_TESTS: Final = {"startswith": "starts", "endswith": "ends", "contains": "contains"}


def plain_call(function: str, arguments: Arguments) -> PlainValue:
    """What a call computes; LeftToSparkError where only Spark knows."""
    for functions, counts, read in _CALLS:
        if function in functions and len(arguments) in counts:
            return read(function, arguments)
    raise LeftToSparkError


def concat(_: str, arguments: Arguments) -> PlainValue:
    """Texts one behind the other."""
    return PlainValue(Concat(operands(*(text_of(argument) for argument in arguments))), "STRING")


def _conditional(_: str, arguments: Arguments) -> PlainValue:
    condition, result, otherwise = arguments
    return branches_of([(condition_of(condition), result)], otherwise)


def _nullif(_: str, arguments: Arguments) -> PlainValue:
    value, other = arguments
    sure(value.value)  # Spark may compute it once, before all others
    return branches_of([(compared("=", value, other), NOTHING)], value)


def _first_value(_: str, arguments: Arguments) -> PlainValue:
    kind = common_type([argument.type for argument in arguments])
    values = tuple(operand(as_type(argument, kind), null=True) for argument in arguments)
    require(reads_columns(values[0]))
    return PlainValue(Coalesce(values, kind), kind)


def _length(_: str, arguments: Arguments) -> PlainValue:
    return PlainValue(TextFunction("length", text_of(arguments[0])), "INT")


def _trimmed(function: str, arguments: Arguments) -> PlainValue:
    return PlainValue(TextFunction(function, text_of(arguments[0])), "STRING")


def _text_test(function: str, arguments: Arguments) -> PlainValue:
    part = constant_of(arguments[1], "STRING")
    return PlainValue(TextTest(_TESTS[function], text_of(arguments[0]), str(part.value)), "BOOLEAN")


def _substring(_: str, arguments: Arguments) -> PlainValue:
    """Only with plain numbers: what comes before the first character has rules of its own."""
    bounds = [int(constant_of(bound, "INT").value) for bound in arguments[1:]]
    start, length = bounds[0], bounds[1] if len(bounds) > 1 else None
    require(start > 0 and (length is None or length >= 0))
    return PlainValue(Substring(text_of(arguments[0]), start - 1, length), "STRING")


def _modulo(_: str, arguments: Arguments) -> PlainValue:
    return arithmetic("%", *arguments)


def _absolute(_: str, arguments: Arguments) -> PlainValue:
    (of,) = arguments
    require(of.type in {"INT", "BIGINT", "DOUBLE"} and reads_columns(of.value))
    return PlainValue(NumberFunction("abs", operand(of.value), of.type), of.type)


def _rounded(function: str, arguments: Arguments) -> PlainValue:
    (of,) = arguments
    require(of.type == "DOUBLE")
    return PlainValue(
        NumberFunction("floor" if function == "floor" else "ceil", operand(of.value), "BIGINT"), "BIGINT"
    )


def _sign(_: str, arguments: Arguments) -> PlainValue:
    (of,) = arguments
    require(of.type in {*WHOLE_TYPES, "DOUBLE"})
    return PlainValue(NumberFunction("sign", operand(as_type(of, "DOUBLE")), "DOUBLE"), "DOUBLE")


def _extreme(function: str, arguments: Arguments) -> PlainValue:
    kind = common_type([argument.type for argument in arguments])
    values = tuple(operand(as_type(argument, kind), null=True) for argument in arguments)
    return PlainValue(Extreme(">" if function == "greatest" else "<", values, kind), kind)


_ANY_NUMBER: Final = range(1, 1000)
_CALLS: Final = (
    ({"if"}, {3}, _conditional),
    ({"coalesce"}, _ANY_NUMBER, _first_value),
    ({"nvl", "ifnull"}, {2}, _first_value),
    ({"nullif"}, {2}, _nullif),
    ({"mod"}, {2}, _modulo),
    ({"abs"}, {1}, _absolute),
    ({"floor", "ceil", "ceiling"}, {1}, _rounded),
    ({"sign", "signum"}, {1}, _sign),
    ({"greatest", "least"}, _ANY_NUMBER[1:], _extreme),
    ({"concat"}, _ANY_NUMBER, concat),
    ({"length", "char_length", "character_length"}, {1}, _length),
    ({"trim", "ltrim", "rtrim"}, {1}, _trimmed),
    ({"substring", "substr"}, {2, 3}, _substring),
    ({"startswith", "endswith", "contains"}, {2}, _text_test),
)
