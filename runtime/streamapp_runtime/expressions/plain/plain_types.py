"""Types of values that are read without Spark: the type that its analyser gives to values of several."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeVar

from streamapp_runtime.expressions.plain.plain_expression import PlainName
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    Cast,
    Constant,
    NullValue,
    RowValue,
    TimeConstant,
    reads_columns,
)
from streamapp_runtime.expressions.value_rules import may_fail

KINDS: Final = {"STRING": str, "BOOLEAN": bool} | dict.fromkeys(WHOLE_TYPES, int)
"""Of types that conditions always had, what is compared as one."""
DECIMAL_LITERAL: Final = "DECIMAL"
"""The type of a literal such as 1.5, of which something has to make a DOUBLE."""
NULL_TYPE: Final = "VOID"
CAST_TYPES: Final = {name: name for name in (*WHOLE_TYPES, "DOUBLE", "STRING", "BOOLEAN")} | {
    "INTEGER": "INT",
    "LONG": "BIGINT",
}
TIME_LITERALS: Final = {
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "timestamp": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"),
}
"""By the word before them, the forms of literals that are read here."""
_FRACTION_DIGITS: Final = 6
TIME_TYPES: Final = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ")
"""Types whose text is computed, since keys are made of it. The session's zone is UTC."""
_WHOLE_VALUES: Final = ("FLOAT", "BINARY", *TIME_TYPES)
"""Types of which values are compared and given on, and not computed with."""
MOST_INT: Final = 2**31 - 1
_MOST_BIGINT: Final = 2**63 - 1
_MOST_DIGITS: Final = 15
"""A decimal of so many is the same number as a double."""

_Part = TypeVar("_Part")


class LeftToSparkError(Exception):
    """Something that Spark alone can judge or compute."""


@dataclass(frozen=True, slots=True)
class PlainValue:
    """The value that a text computes, its type, the columns' places in the text, and whether it is a cast.

    A cast of a literal is none to Spark, even to the type that it has.
    """

    value: RowValue
    type: str
    names: tuple[PlainName, ...] = ()
    is_cast: bool = False


Arguments = Sequence[PlainValue]
"""What a function is called with."""
ANY_NUMBER: Final = range(1, 1000)
"""How many arguments a function takes that takes any number of them."""
NOTHING: Final = PlainValue(NullValue(NULL_TYPE), NULL_TYPE)


def require(holds: bool) -> None:
    """Leave to Spark what does not have a property."""
    if not holds:
        raise LeftToSparkError


def known(value: _Part | None) -> _Part:
    """The value that is there; without one, all is left to Spark."""
    if value is None:
        raise LeftToSparkError
    return value


def is_computed_type(kind: str) -> bool:
    """True if a worker can give values of a type."""
    return kind in CAST_TYPES or kind in _WHOLE_VALUES or kind.startswith("DECIMAL(")


def common_type(types: Sequence[str]) -> str:
    """The type that Spark gives to values of several types; nulls have that of the others."""
    kinds = {kind for kind in types if kind != NULL_TYPE}
    if len(kinds) == 1:
        (kind,) = kinds
        require(is_computed_type(kind))  # a literal's digits matter
        return kind
    if kinds and kinds <= set(WHOLE_TYPES):
        return max(kinds, key=WHOLE_TYPES.index)
    require("DOUBLE" in kinds and kinds <= {*WHOLE_TYPES, "DOUBLE", DECIMAL_LITERAL})
    return "DOUBLE"


def as_type(of: PlainValue, kind: str) -> RowValue:
    """A value as one of a type, where it has a cast with rules that are the same everywhere."""
    if of.type == kind:
        return of.value
    if of.type == NULL_TYPE:
        return NullValue(kind)
    if of.type == DECIMAL_LITERAL:
        require(kind == "DOUBLE")
        return Constant(float(decimal_literal(of)))
    whole = of.type in WHOLE_TYPES and kind in (*WHOLE_TYPES, "DOUBLE", "STRING")
    text = kind == "STRING" and of.type in ("BOOLEAN", *TIME_TYPES)
    require(whole or text)
    cast = Cast(of.value, of.type, kind)
    require(not may_fail(cast) or reads_columns(of.value))
    return cast


def decimal_literal(of: PlainValue) -> Decimal:
    """A literal such as 1.5, with its digits."""
    if isinstance(of.value, Constant) and isinstance(of.value.value, Decimal):
        return of.value.value
    raise LeftToSparkError


def number_constant(text: str, minus: bool) -> PlainValue:
    """A number as it is written."""
    if "." in text:
        require(len(text) <= _MOST_DIGITS)
        number = Decimal(text)
        return PlainValue(Constant(-number if minus and number else number), DECIMAL_LITERAL)  # none is -0
    whole = -int(text) if minus else int(text)
    if -MOST_INT - 1 <= whole <= MOST_INT:
        return PlainValue(Constant(whole), "INT")
    require(-_MOST_BIGINT - 1 <= whole <= _MOST_BIGINT)
    return PlainValue(Constant(whole), "BIGINT")


def time_literal(kind: str, text: str) -> PlainValue:
    """`DATE '...'` or `TIMESTAMP '...'`, written in full; a moment has no zone, and is one of UTC."""
    require(TIME_LITERALS[kind].fullmatch(text) is not None)
    try:
        if kind == "date":
            return PlainValue(TimeConstant(dt.date.fromisoformat(text)), "DATE")
        whole, _, fraction = text.partition(".")
        moment = dt.datetime.fromisoformat(whole).replace(
            microsecond=int(fraction.ljust(_FRACTION_DIGITS, "0")), tzinfo=dt.UTC
        )
        return PlainValue(TimeConstant(moment), "TIMESTAMP")
    except ValueError:
        raise LeftToSparkError from None
