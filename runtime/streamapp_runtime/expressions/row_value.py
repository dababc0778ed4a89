"""Conditions and values that a Python worker can compute for whole columns at once, exactly as Spark would.

Only what means the same to Spark and to a worker has a place here: comparisons, tests of texts, and
three-valued logic; and the arithmetic, branches, casts and texts below.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

ConstantValue = str | int | bool | float | Decimal


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """The column at a position."""

    position: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is not null."""

    value: ConstantValue


@dataclass(frozen=True, slots=True)
class Comparison:
    """`=`, `<`, `<=`, `>` or `>=` of two values of one kind; null where one of them is."""

    sign: str
    left: "RowValue"
    right: "RowValue"


@dataclass(frozen=True, slots=True)
class TextTest:
    """The test that a text `starts` with, `ends` with, or `contains` another."""

    test: str
    of: "RowValue"
    text: str


@dataclass(frozen=True, slots=True)
class InList:
    """The test that a value is one of several; null where the value is null."""

    of: "RowValue"
    values: tuple[ConstantValue, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    """The test that there is no value; never null itself."""

    of: "RowValue"


@dataclass(frozen=True, slots=True)
class And:
    """AND: false where one side is false, whatever the other is."""

    left: "RowValue"
    right: "RowValue"


@dataclass(frozen=True, slots=True)
class Or:
    """OR: true where one side is true, whatever the other is."""

    left: "RowValue"
    right: "RowValue"


@dataclass(frozen=True, slots=True)
class Not:
    """NOT: null where its value is null."""

    of: "RowValue"


Predicate = ColumnValue | Constant | Comparison | TextTest | InList | IsNull | And | Or | Not


@dataclass(frozen=True, slots=True)
class NullValue:
    """No value, of a type."""

    type: str


@dataclass(frozen=True, slots=True)
class NullSafeEquality:
    """`<=>`: whether two values are the same or both null; never null itself."""

    left: "RowValue"
    right: "RowValue"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`+`, `-`, `*`, `/`, `%` or `div` of two numbers of one type, which is the result's."""

    sign: str
    left: "RowValue"
    right: "RowValue"
    type: str


@dataclass(frozen=True, slots=True)
class DecimalArithmetic:
    """`+`, `-` or `*` of two decimals; the type of the result has place for it."""

    sign: str
    left: "RowValue"
    right: "RowValue"
    type: str


@dataclass(frozen=True, slots=True)
class Negation:
    """The number of the other sign."""

    of: "RowValue"
    type: str


@dataclass(frozen=True, slots=True)
class NumberFunction:
    """`abs` of a number; `floor`, `ceil` and `sign` of a double; of a type."""

    function: str
    of: "RowValue"
    type: str


@dataclass(frozen=True, slots=True)
class Extreme:
    """The first value that is `>` or `<` all others, leaving out nulls."""

    sign: str
    values: tuple["RowValue", ...]
    type: str


@dataclass(frozen=True, slots=True)
class Cast:
    """A value as another type."""

    of: "RowValue"
    source: str
    type: str


@dataclass(frozen=True, slots=True)
class Case:
    """The value behind the first condition that is true; the other branches are not computed."""

    branches: tuple[tuple["RowValue", "RowValue"], ...]
    otherwise: "RowValue"
    type: str


@dataclass(frozen=True, slots=True)
class Coalesce:
    """The first value that is not null; those behind it are not computed."""

    values: tuple["RowValue", ...]
    type: str


@dataclass(frozen=True, slots=True)
class RequiredValue:
    """A value that is never null: on a row without one that is the error."""

    of: "RowValue"
    error: str
    type: str


@dataclass(frozen=True, slots=True)
class Concat:
    """Texts one behind the other; null where one of them is."""

    values: tuple["RowValue", ...]


@dataclass(frozen=True, slots=True)
class JoinedTexts:
    """Texts that are not null with something between them; never null itself."""

    separator: str
    values: tuple["RowValue", ...]


@dataclass(frozen=True, slots=True)
class TextFunction:
    """The result of a function of a text and constants: the text's `length`, or another text."""

    function: str
    of: "RowValue"
    arguments: tuple[ConstantValue, ...] = ()


@dataclass(frozen=True, slots=True)
class BytesFunction:
    """The result of a function of the bytes of a text, or of a BINARY, and constants."""

    function: str
    of: "RowValue"
    arguments: tuple[ConstantValue, ...] = ()


@dataclass(frozen=True, slots=True)
class TimeConstant:
    """A day, or a moment of UTC."""

    value: dt.date


@dataclass(frozen=True, slots=True)
class FieldValue:
    """The field at an index of a struct; null where the struct is."""

    of: "RowValue"
    index: int


@dataclass(frozen=True, slots=True)
class ElementValue:
    """An element of an array: `[]` and `get` count from 0, `element_at` from 1, or from the end.

    Where there is no such element, `get` gives null, and the others fail.
    """

    function: str
    of: "RowValue"
    index: "RowValue"


@dataclass(frozen=True, slots=True)
class MapEntry:
    """The value that a map has for a key; null where it has none."""

    of: "RowValue"
    key: ConstantValue


@dataclass(frozen=True, slots=True)
class CollectionSize:
    """The number of elements of an array, or of entries of a map; null where the collection is."""

    of: "RowValue"


@dataclass(frozen=True, slots=True)
class ArrayContains:
    """The test that an array has an element; null where only a null of the array might be that."""

    of: "RowValue"
    element: "RowValue"


@dataclass(frozen=True, slots=True)
class LikePattern:
    """The test that all of a text matches a regular expression."""

    of: "RowValue"
    regex: str


@dataclass(frozen=True, slots=True)
class Substring:
    """A slice of a text's characters: bounds below 0 count from its end, and no bound is the end itself."""

    of: "RowValue"
    start: int
    stop: int | None


RowValue = (
    Predicate
    | NullValue
    | NullSafeEquality
    | Arithmetic
    | DecimalArithmetic
    | Negation
    | NumberFunction
    | Extreme
    | Cast
    | Case
    | Coalesce
    | RequiredValue
    | Concat
    | JoinedTexts
    | TextFunction
    | BytesFunction
    | TimeConstant
    | FieldValue
    | ElementValue
    | MapEntry
    | CollectionSize
    | ArrayContains
    | LikePattern
    | Substring
)

WHOLE_TYPES = ("TINYINT", "SMALLINT", "INT", "BIGINT")
"""The types of whole numbers, each wider than the one before."""


def narrows(cast: Cast) -> bool:
    """True if a cast may meet a number that has no place in its type."""
    whole = cast.source in WHOLE_TYPES and cast.type in WHOLE_TYPES
    return whole and WHOLE_TYPES.index(cast.type) < WHOLE_TYPES.index(cast.source)


def parts_of(value: RowValue) -> Iterator[RowValue]:
    """The values that a value is made of."""
    for part in (getattr(value, one.name) for one in fields(value)):
        yield from _values_in(part)


def reads_columns(value: RowValue) -> bool:
    """True if a value depends on any column."""
    return isinstance(value, ColumnValue) or any(reads_columns(part) for part in parts_of(value))


def over_positions(value: RowValue, place: Callable[[int], int]) -> RowValue:
    """The same value over columns at other positions."""
    if isinstance(value, ColumnValue):
        return ColumnValue(place(value.position))
    return replace(value, **{one.name: _moved(getattr(value, one.name), place) for one in fields(value)})


def _values_in(part: Any) -> Iterator[RowValue]:
    if isinstance(part, RowValue):
        yield part
    elif isinstance(part, tuple):
        for inner in part:
            yield from _values_in(inner)


def _moved(part: Any, place: Callable[[int], int]) -> Any:
    if isinstance(part, RowValue):
        return over_positions(part, place)
    return tuple(_moved(inner, place) for inner in part) if isinstance(part, tuple) else part


def like_test(of: RowValue, pattern: str, escape: str) -> Predicate | None:
    """LIKE with a pattern that says how a text begins, ends, what it contains, or all of it; else None."""
    bare = pattern.strip("%")
    if any(special in bare for special in ("%", "_", "\\", escape)) or escape in "%_":
        return None
    before, after = pattern.startswith("%"), pattern.endswith("%")
    if not before and not after:
        return Comparison("=", of, Constant(bare))
    return TextTest("contains" if before and after else "ends" if before else "starts", of, bare)


def like_pattern(of: RowValue, pattern: str, escape: str) -> LikePattern | None:
    """LIKE with any pattern; None where an escape stands before nothing that it can be of."""
    regex, characters = "", iter(pattern)
    for character in characters:
        if character == escape:
            escaped = next(characters, "")
            if escaped not in {"%", "_", escape}:
                return None
            regex += _literal(escaped)
        else:
            regex += {"%": ".*", "_": "."}.get(character) or _literal(character)
    return LikePattern(of, rf"(?s)\A{regex}\z")


def _literal(character: str) -> str:
    return character if character.isalnum() else rf"\x{{{ord(character):x}}}"
