"""Functions whose calls are read without Spark: names, numbers of arguments, and what is computed of them."""

from collections.abc import Sequence
from typing import Final

from streamapp_runtime.expressions.plain.plain_casts import CAST_CALLS
from streamapp_runtime.expressions.plain.plain_nested import NESTED_CALLS
from streamapp_runtime.expressions.plain.plain_nulls import NULL_CALLS
from streamapp_runtime.expressions.plain.plain_operands import (
    arithmetic,
    branches_of,
    condition_of,
    constant_of,
    of_common_type,
    operand,
    operands,
    sure,
    text_of,
)
from streamapp_runtime.expressions.plain.plain_times import TIME_CALLS
from streamapp_runtime.expressions.plain.plain_types import (
    MOST_INT,
    LeftToSparkError,
    PlainValue,
    as_type,
    require,
)
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    Concat,
    Extreme,
    JoinedTexts,
    NumberFunction,
    RowValue,
    Substring,
    TextFunction,
    TextTest,
    parts_of,
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
    """Texts one behind the other; Spark casts other values to texts here."""
    texts = (operand(as_type(argument, "STRING")) for argument in arguments)
    return PlainValue(Concat(operands(*texts)), "STRING")


def _conditional(_: str, arguments: Arguments) -> PlainValue:
    condition, result, otherwise = arguments
    return branches_of([(condition_of(condition), result)], otherwise)


def _length(_: str, arguments: Arguments) -> PlainValue:
    return PlainValue(TextFunction("length", text_of(arguments[0])), "INT")


def _trimmed(function: str, arguments: Arguments) -> PlainValue:
    return PlainValue(TextFunction(function, text_of(arguments[0])), "STRING")


def _text_test(function: str, arguments: Arguments) -> PlainValue:
    part = constant_of(arguments[1], "STRING")
    return PlainValue(TextTest(_TESTS[function], text_of(arguments[0]), str(part.value)), "BOOLEAN")


def _substring(_: str, arguments: Arguments) -> PlainValue:
    """To Spark the length of all that follows is the largest INT, also from the least place that there is."""
    start, *length = (_whole(bound) for bound in arguments[1:])
    return _slice(arguments[0], start, length[0] if length else MOST_INT)


def _left(_: str, arguments: Arguments) -> PlainValue:
    return _slice(arguments[0], 1, _whole(arguments[1]))


def _right(_: str, arguments: Arguments) -> PlainValue:
    """Spark asks first whether the text is null."""
    sure(arguments[0].value)
    length = _whole(arguments[1])
    return _slice(arguments[0], -length, MOST_INT if length > 0 else 0)


def _slice(of: PlainValue, start: int, length: int) -> PlainValue:
    """A text from its first character or, below 0, its last one on; 0 is the first one, too."""
    first = start - 1 if start > 0 else start
    stop = None if first < 0 <= first + length else first + length
    bounds = (0, 0) if length <= 0 else (first, stop)
    return PlainValue(Substring(text_of(of), *bounds), "STRING")


def _whole(of: PlainValue) -> int:
    return int(constant_of(of, "INT").value)


def _in_case(function: str, arguments: Arguments) -> PlainValue:
    """Spark drops a change of case within another one, which is not the same for all letters."""
    of = text_of(arguments[0])
    require(not _changes_case(of))
    name = {"ucase": "upper", "lcase": "lower"}.get(function, function)
    return PlainValue(TextFunction(name, of), "STRING")


def _changes_case(value: RowValue) -> bool:
    is_change = isinstance(value, TextFunction) and value.function in {"upper", "lower"}
    return is_change or any(_changes_case(part) for part in parts_of(value))


def _replaced(function: str, arguments: Arguments) -> PlainValue:
    search, *replacement = (str(constant_of(argument, "STRING").value) for argument in arguments[1:])
    require(bool(search))
    made = TextFunction(function, text_of(arguments[0]), (search, *(replacement or [""])))
    return PlainValue(made, "STRING")


def _padded(function: str, arguments: Arguments) -> PlainValue:
    length, pad = _whole(arguments[1]), [str(constant_of(one, "STRING").value) for one in arguments[2:]]
    require(length <= _MOST_CHARACTERS)
    return PlainValue(TextFunction(function, text_of(arguments[0]), (length, *(pad or [" "]))), "STRING")


def _repeated(function: str, arguments: Arguments) -> PlainValue:
    times = _whole(arguments[1])
    require(times <= _MOST_CHARACTERS)
    return PlainValue(TextFunction(function, text_of(arguments[0]), (times,)), "STRING")


def _joined(_: str, arguments: Arguments) -> PlainValue:
    separator = str(constant_of(arguments[0], "STRING").value)
    made = JoinedTexts(separator, operands(*(text_of(argument) for argument in arguments[1:])))
    return PlainValue(made, "STRING")


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


_MOST_CHARACTERS: Final = 10_000
"""What is made longer than this is Spark's, which knows when memory is short."""
_ANY_NUMBER: Final = range(1, 1000)
_CALLS: Final = (
    ({"if"}, {3}, _conditional),
    ({"mod"}, {2}, _modulo),
    ({"abs"}, {1}, _absolute),
    ({"floor", "ceil", "ceiling"}, {1}, _rounded),
    ({"sign", "signum"}, {1}, _sign),
    ({"greatest", "least"}, _ANY_NUMBER[1:], _extreme),
    ({"concat"}, _ANY_NUMBER, concat),
    ({"length", "char_length", "character_length"}, {1}, _length),
    ({"trim", "ltrim", "rtrim"}, {1}, _trimmed),
    ({"substring", "substr"}, {2, 3}, _substring),
    ({"left"}, {2}, _left),
    ({"right"}, {2}, _right),
    ({"upper", "ucase", "lower", "lcase"}, {1}, _in_case),
    ({"replace"}, {2, 3}, _replaced),
    ({"lpad", "rpad"}, {2, 3}, _padded),
    ({"repeat"}, {2}, _repeated),
    ({"concat_ws"}, _ANY_NUMBER[1:], _joined),
    ({"startswith", "endswith", "contains"}, {2}, _text_test),
    *CAST_CALLS,
    *NULL_CALLS,
    *TIME_CALLS,
    *NESTED_CALLS,
)
