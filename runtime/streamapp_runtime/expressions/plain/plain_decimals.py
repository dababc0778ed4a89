"""Types of DECIMAL: of literals, of what is compared, and of sums and products."""

from decimal import Decimal
from typing import Final

from streamapp.spec.value_types.column_list import MOST_DIGITS
from streamapp_runtime.expressions.plain.plain_expression import DECIMAL_TYPE
from streamapp_runtime.expressions.plain.plain_types import (
    DECIMAL_LITERAL,
    NULL_TYPE,
    PlainValue,
    decimal_literal,
    known,
    require,
)
from streamapp_runtime.expressions.row_value import Cast, Constant, RowValue

_DIGITS_OF_WHOLES: Final = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}


def decimal_sides(left: PlainValue, right: PlainValue) -> tuple[PlainValue, PlainValue] | None:
    """Two values as the decimals that Spark makes of them; None where none of them is one yet."""
    kinds = {left.type, right.type}
    if NULL_TYPE in kinds or not any(map(DECIMAL_TYPE.fullmatch, kinds)):
        return None
    return _decimal(left), _decimal(right)


def decimal_factors(left: PlainValue, right: PlainValue) -> tuple[PlainValue, PlainValue] | None:
    """The sides of a sum or product; there a whole number beside a literal such as 0.5 is a decimal too."""
    is_whole_beside_literal = DECIMAL_LITERAL in {left.type, right.type} and any(
        side.type in _DIGITS_OF_WHOLES for side in (left, right)
    )
    return (_decimal(left), _decimal(right)) if is_whole_beside_literal else decimal_sides(left, right)


def as_decimal(of: PlainValue, kind: str) -> RowValue:
    """A decimal as one of a wider type."""
    return of.value if of.type == kind else Cast(of.value, of.type, kind)


def wider_decimal(left: PlainValue, right: PlainValue) -> str:
    """The type that has place for the values of both."""
    (whole, scale), (other_whole, other_scale) = _places(left), _places(right)
    return _type(max(whole, other_whole), max(scale, other_scale))


def decimal_result(sign: str, left: PlainValue, right: PlainValue) -> str:
    """The type of a sum or product, which has place for all of them."""
    (whole, scale), (other_whole, other_scale) = _places(left), _places(right)
    if sign == "*":
        return _type(whole + other_whole + 1, scale + other_scale)
    return _type(max(whole, other_whole) + 1, max(scale, other_scale))


def _decimal(of: PlainValue) -> PlainValue:
    """A literal has the type of its digits."""
    if of.type == DECIMAL_LITERAL:
        return _constant(decimal_literal(of))
    if of.type in _DIGITS_OF_WHOLES:
        if isinstance(of.value, Constant) and not of.is_cast:
            return _constant(Decimal(of.value.value))
        kind = f"DECIMAL({_DIGITS_OF_WHOLES[of.type]},0)"
        return PlainValue(Cast(of.value, of.type, kind), kind)
    require(DECIMAL_TYPE.fullmatch(of.type) is not None)
    return of


def _constant(number: Decimal) -> PlainValue:
    digits, scale = len(number.as_tuple().digits), -int(number.as_tuple().exponent)
    kind = f"DECIMAL({max(digits, scale)},{scale})"
    return PlainValue(Cast(Constant(number), kind, kind), kind)


def _places(of: PlainValue) -> tuple[int, int]:
    """The number of digits before the point, and of those behind it."""
    digits, scale = map(int, known(DECIMAL_TYPE.fullmatch(of.type)).groups())
    return digits - scale, scale


def _type(whole: int, scale: int) -> str:
    require(whole + scale <= MOST_DIGITS)  # of a type with more, Spark drops digits
    return f"DECIMAL({whole + scale},{scale})"
