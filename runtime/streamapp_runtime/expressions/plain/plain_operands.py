"""The places of a value within another that keep errors on the rows on which they come in Spark.

Spark's optimizer drops, reorders and folds parts of an expression, and with them their errors. Where it may
do that, and a part can fail, the expression is left to Spark.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from streamapp_runtime.expressions.plain.plain_decimals import (
    as_decimal,
    decimal_factors,
    decimal_result,
    decimal_sides,
    wider_decimal,
)
from streamapp_runtime.expressions.plain.plain_types import (
    DECIMAL_LITERAL,
    KINDS,
    NULL_TYPE,
    LeftToSparkError,
    PlainValue,
    as_type,
    common_type,
    decimal_literal,
    require,
)
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    ColumnValue,
    Comparison,
    Constant,
    DecimalArithmetic,
    IsNull,
    NullSafeEquality,
    NullValue,
    Or,
    RowValue,
    TimeConstant,
    parts_of,
    reads_columns,
)
from streamapp_runtime.expressions.value_rules import may_be_null_always, may_fail

_WHOLE_BOUNDS: Final[Mapping[str, Callable[[float], int]]] = {
    "<": math.ceil,
    "<=": math.floor,
    ">": math.floor,
    ">=": math.ceil,
}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_LEAST_OUTSIDE: Final = 2.0**31


def operand(value: RowValue, *, null: bool = False) -> RowValue:
    """A value within another: Spark computes what stands around branches within them, and nulls away."""
    require(null or not isinstance(value, NullValue))
    require(not (isinstance(value, Case | Coalesce) and may_fail(value)))
    return value


def operands(*values: RowValue) -> tuple[RowValue, ...]:
    """Values of which Spark computes none where it knows that one of them is null."""
    require(not any(map(may_fail, values)) or not any(map(may_be_null_always, values)))
    return tuple(operand(value) for value in values)


def of_common_type(values: Sequence[PlainValue]) -> tuple[str, tuple[RowValue, ...]]:
    """Values of which one is chosen, as the type that all of them have then."""
    kind = common_type([value.type for value in values])
    return kind, tuple(operand(as_type(value, kind), null=True) for value in values)


def sure(value: RowValue) -> RowValue:
    """A value on which nothing can fail: Spark may compute it or not."""
    require(not isinstance(value, NullValue) and not may_fail(value))
    return value


def condition_of(of: PlainValue) -> RowValue:
    """A value that is true or false."""
    require(of.type == "BOOLEAN")
    return of.value


def cast_value(of: PlainValue, kind: str) -> PlainValue:
    """A value as one of another type, also null."""
    return PlainValue(operand(as_type(of, kind), null=True), kind, is_cast=True)


def null_test(of: PlainValue) -> RowValue:
    """The test that there is no value."""
    require(of.type not in {NULL_TYPE, DECIMAL_LITERAL})
    return IsNull(sure(of.value))


def null_safe(left: PlainValue, right: PlainValue) -> RowValue:
    """Spark knows what a value is compared with itself, and nothing here may fail."""
    if right.type == NULL_TYPE:
        require("MAP<" not in left.type)  # Spark compares no maps
        return null_test(left)
    kind = common_type((left.type, right.type))
    return NullSafeEquality(sure(as_type(left, kind)), sure(as_type(right, kind)))


def text_of(of: PlainValue) -> RowValue:
    """A text within another value."""
    require(of.type == "STRING")
    return operand(of.value)


def constant_of(of: PlainValue, kind: str) -> Constant:
    """A literal of a type."""
    if not isinstance(of.value, Constant) or of.type != kind:
        raise LeftToSparkError
    return of.value


def compared(sign: str, left: PlainValue, right: PlainValue) -> RowValue:
    """Spark knows what a comparison of a value with itself gives, and does not compute the value."""
    kind = KINDS.get(left.type)
    if kind is not None and kind is KINDS.get(right.type):
        require(not _is_decided(left, right) and not _is_decided(right, left))
        return _apart(Comparison(sign, *operands(left.value, right.value)))
    if left.type in {"INT", "BIGINT"} and right.type == DECIMAL_LITERAL:
        return Comparison(sign, operand(left.value), _whole_bound(sign, right))
    if left.type == DECIMAL_LITERAL and right.type in {"INT", "BIGINT"} and sign in _MIRRORED:
        return Comparison(sign, _whole_bound(_MIRRORED[sign], left), operand(right.value))
    if decimals := decimal_sides(left, right):
        wider = wider_decimal(*decimals)
        sides = operands(*(as_decimal(side, wider) for side in decimals))
        return _apart(Comparison(sign, *sides))
    common = common_type((left.type, right.type))
    sides = operands(as_type(left, common), as_type(right, common))
    return _apart(Comparison(sign, *sides))


def arithmetic(sign: str, left: PlainValue, right: PlainValue) -> PlainValue:
    """Two numbers joined by a sign; `div` of whole numbers is one of the widest type."""
    if decimals := decimal_factors(left, right):
        require(sign in {"+", "-", "*"})
        one, other = operands(*(side.value for side in decimals))
        return _of_chain(DecimalArithmetic(sign, one, other, decimal_result(sign, *decimals)))
    require({left.type, right.type} <= {*WHOLE_TYPES, "DOUBLE", DECIMAL_LITERAL})
    match sign:
        case "/" if DECIMAL_LITERAL not in {left.type, right.type}:
            kind = "DOUBLE"
        case "div":
            require({left.type, right.type} <= set(WHOLE_TYPES))
            kind = "BIGINT"
        case _:
            kind = common_type((left.type, right.type))
    require(kind in {"INT", "BIGINT", "DOUBLE"})
    first, second = operands(as_type(left, kind), as_type(right, kind))
    return _of_chain(Arithmetic(sign, first, second, kind))


def _of_chain(made: Arithmetic | DecimalArithmetic) -> PlainValue:
    """Spark adds up the constants of a chain first, which may spare it an overflow.

    To a chain of whole numbers it adds the only constant last, and multiplies by it last.
    """
    require(reads_columns(made))
    parts = _chained(made, made.sign)
    constants = [part for part in parts if not reads_columns(part)]
    require(len(constants) < 2)
    if not (
        isinstance(made, Arithmetic) and made.sign in {"+", "*"} and made.type in WHOLE_TYPES and constants
    ):
        return PlainValue(made, made.type)
    chain, *others = (part for part in parts if reads_columns(part))
    for part in (*others, *constants):
        chain = Arithmetic(made.sign, chain, part, made.type)
    return PlainValue(chain, made.type)


def branches_of(branches: Sequence[tuple[RowValue, PlainValue]], otherwise: PlainValue) -> PlainValue:
    """A condition whose branches are the same, or that is known, is not computed by Spark."""
    kind, values = of_common_type([*(result for _, result in branches), otherwise])
    made = Case(
        tuple((test, value) for (test, _), value in zip(branches, values[:-1], strict=True)),
        values[-1],
        kind,
    )
    if may_fail(made):
        bare = [without_casts(value) for value in values]
        require(all(reads_columns(test) for test, _ in made.branches))
        require(not any(bare[n] in bare[:n] for n in range(len(bare))))
        for test, _ in made.branches:
            operand(test)
    return PlainValue(made, kind)


def balanced(parts: Sequence[RowValue], combine: type[And | Or]) -> RowValue:
    """The even tree of the parts that one word joins, as Spark's parser makes it."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) - 1) // 2 + 1
    return combine(balanced(parts[:half], combine), balanced(parts[half:], combine))


def without_casts(value: RowValue) -> RowValue:
    """The value inside the casts around it."""
    return without_casts(value.of) if isinstance(value, Cast) else value


def _whole_bound(sign: str, right: PlainValue) -> Constant:
    """The whole number that Spark compares whole numbers with in place of a decimal."""
    number = float(decimal_literal(right))
    require(sign in _WHOLE_BOUNDS and abs(number) < _LEAST_OUTSIDE - 1)
    return Constant(_WHOLE_BOUNDS[sign](number))


def _is_decided(of: PlainValue, constant: PlainValue) -> bool:
    """True if Spark may know what a comparison gives, and compute no value that can fail.

    It does of whole numbers where one is a constant that the other's type has no place for, or just so.
    """
    if of.type not in WHOLE_TYPES or not isinstance(constant.value, Constant) or not may_fail(of.value):
        return False
    end = 2 ** (8 * 2 ** WHOLE_TYPES.index(of.type) - 1)
    return of.type != constant.type and not -end < constant.value.value < end - 1


def _apart(comparison: Comparison) -> Comparison:
    """Two sides that are not the same to Spark, in whatever order their parts stand."""
    if may_fail(comparison.left) and may_fail(comparison.right):
        left, right = (sorted(map(repr, _leaves(side))) for side in (comparison.left, comparison.right))
        require(left != right)
    return comparison


def _chained(value: RowValue, sign: str) -> Sequence[RowValue]:
    """The values that a chain of one sign joins."""
    if isinstance(value, Arithmetic | DecimalArithmetic) and value.sign == sign:
        return [*_chained(value.left, sign), *_chained(value.right, sign)]
    return [value]


def _leaves(value: RowValue) -> Iterator[RowValue]:
    if isinstance(value, ColumnValue | Constant | TimeConstant | NullValue):
        yield value
    for part in parts_of(value):
        yield from _leaves(part)
