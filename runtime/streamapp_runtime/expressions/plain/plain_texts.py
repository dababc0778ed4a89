"""Functions of texts that are read without Spark."""

from collections.abc import Callable
from typing import Final

from streamapp_runtime.expressions.plain.plain_operands import constant_of, operand, operands, sure, text_of
from streamapp_runtime.expressions.plain.plain_types import (
    ANY_NUMBER,
    MOST_INT,
    Arguments,
    PlainValue,
    as_type,
    require,
)
from streamapp_runtime.expressions.row_value import (
    BytesFunction,
    Concat,
    JoinedTexts,
    RowValue,
    Substring,
    TextFunction,
    TextTest,
    parts_of,
)

_SAME_FUNCTIONS: Final = {
    **dict.fromkeys(("char_length", "character_length"), "length"),
    "ucase": "upper",
    "lcase": "lower",
    "sha": "sha1",
}
_TESTS: Final = {"startswith": "starts", "endswith": "ends", "contains": "contains"}
_MOST_CHARACTERS: Final = 10_000
"""What is made longer than this is Spark's, which knows when memory is short."""
_DIGEST_BITS: Final = {224, 256, 384, 512}


def concat(_: str, arguments: Arguments) -> PlainValue:
    """Texts one behind the other; Spark casts other values to texts here."""
    texts = (operand(as_type(argument, "STRING")) for argument in arguments)
    return PlainValue(Concat(operands(*texts)), "STRING")


def _of_text(kind: str) -> Callable[[str, Arguments], PlainValue]:
    """The reader of a call that is of one text."""

    def read(function: str, arguments: Arguments) -> PlainValue:
        name = _SAME_FUNCTIONS.get(function, function)
        return PlainValue(TextFunction(name, text_of(arguments[0])), kind)

    return read


def _text_test(function: str, arguments: Arguments) -> PlainValue:
    test = TextTest(_TESTS[function], text_of(arguments[0]), _literal(arguments[1]))
    return PlainValue(test, "BOOLEAN")


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


def _literal(of: PlainValue) -> str:
    return str(constant_of(of, "STRING").value)


def _in_case(function: str, arguments: Arguments) -> PlainValue:
    """Spark drops a change of case within another one, which is not the same for all letters."""
    require(not _changes_case(arguments[0].value))
    return _of_text("STRING")(function, arguments)


def _changes_case(value: RowValue) -> bool:
    is_change = isinstance(value, TextFunction) and value.function in {"upper", "lower"}
    return is_change or any(_changes_case(part) for part in parts_of(value))


def _replaced(function: str, arguments: Arguments) -> PlainValue:
    search, *replacement = (_literal(argument) for argument in arguments[1:])
    require(bool(search))
    made = TextFunction(function, text_of(arguments[0]), (search, *(replacement or [""])))
    return PlainValue(made, "STRING")


def _padded(function: str, arguments: Arguments) -> PlainValue:
    length, pad = _whole(arguments[1]), [_literal(one) for one in arguments[2:]]
    require(length <= _MOST_CHARACTERS)
    return PlainValue(TextFunction(function, text_of(arguments[0]), (length, *(pad or [" "]))), "STRING")


def _repeated(function: str, arguments: Arguments) -> PlainValue:
    times = _whole(arguments[1])
    require(times <= _MOST_CHARACTERS)
    return PlainValue(TextFunction(function, text_of(arguments[0]), (times,)), "STRING")


def _joined(_: str, arguments: Arguments) -> PlainValue:
    separator = _literal(arguments[0])
    made = JoinedTexts(separator, operands(*(text_of(argument) for argument in arguments[1:])))
    return PlainValue(made, "STRING")


def _instr(_: str, arguments: Arguments) -> PlainValue:
    of, part = arguments
    return PlainValue(TextFunction("locate", text_of(of), (_literal(part), 1)), "INT")


def _located(_: str, arguments: Arguments) -> PlainValue:
    """The place of a part from some place on."""
    part, of, *place = arguments
    first = _whole(place[0]) if place else 1
    return PlainValue(TextFunction("locate", text_of(of), (_literal(part), first)), "INT")


def _delimited(function: str, arguments: Arguments) -> PlainValue:
    of, delimiter, number = arguments
    require(function == "substring_index" or _whole(number) != 0)
    made = TextFunction(function, text_of(of), (_literal(delimiter), _whole(number)))
    return PlainValue(made, "STRING")


def _translated(function: str, arguments: Arguments) -> PlainValue:
    of, *characters = arguments
    made = TextFunction(function, text_of(of), tuple(_literal(each) for each in characters))
    return PlainValue(made, "STRING")


def _of_bytes(kind: str) -> Callable[[str, Arguments], PlainValue]:
    """The reader of a call that is of the bytes of one text, or of a BINARY."""

    def read(function: str, arguments: Arguments) -> PlainValue:
        of, *bits = arguments
        require(of.type in {"STRING", "BINARY"})
        width = [_whole(each) or 256 for each in bits]
        require(set(width) <= _DIGEST_BITS)
        name = _SAME_FUNCTIONS.get(function, function)
        return PlainValue(BytesFunction(name, operand(of.value), tuple(width)), kind)

    return read


TEXT_CALLS: Final = (
    ({"concat"}, ANY_NUMBER, concat),
    ({"length", "char_length", "character_length"}, {1}, _of_text("INT")),
    ({"trim", "ltrim", "rtrim", "reverse"}, {1}, _of_text("STRING")),
    ({"ascii"}, {1}, _of_text("INT")),
    ({"substring", "substr"}, {2, 3}, _substring),
    ({"left"}, {2}, _left),
    ({"right"}, {2}, _right),
    ({"upper", "ucase", "lower", "lcase"}, {1}, _in_case),
    ({"replace"}, {2, 3}, _replaced),
    ({"lpad", "rpad"}, {2, 3}, _padded),
    ({"repeat"}, {2}, _repeated),
    ({"concat_ws"}, ANY_NUMBER[1:], _joined),
    ({"startswith", "endswith", "contains"}, {2}, _text_test),
    ({"instr"}, {2}, _instr),
    ({"locate", "position"}, {2, 3}, _located),
    ({"split_part", "substring_index"}, {3}, _delimited),
    ({"translate"}, {3}, _translated),
    ({"octet_length", "bit_length"}, {1}, _of_bytes("INT")),
    ({"md5", "sha", "sha1", "hex"}, {1}, _of_bytes("STRING")),
    ({"sha2"}, {2}, _of_bytes("STRING")),
    ({"crc32"}, {1}, _of_bytes("BIGINT")),
)
