"""Values and conditions computed for whole columns.

A row on which a value cannot be computed is an error to Spark. Here the others are computed all the same, and
the row is noted with Spark's words for it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.expressions.row_value import (
    And,
    Arithmetic,
    ArrayContains,
    BytesFunction,
    Case,
    Cast,
    Coalesce,
    CollectionSize,
    ColumnValue,
    Comparison,
    Concat,
    Constant,
    ConstantValue,
    DecimalArithmetic,
    ElementValue,
    Extreme,
    FieldValue,
    InList,
    IsNull,
    JoinedTexts,
    LikePattern,
    MapEntry,
    Negation,
    Not,
    NullSafeEquality,
    NullValue,
    NumberFunction,
    Or,
    RequiredValue,
    RowValue,
    Substring,
    TextFunction,
    TextTest,
    TimeConstant,
    narrows,
)
from streamapp_runtime.expressions.value_rules import may_fail
from streamapp_runtime.formats.arrow_types import arrow_type
from streamapp_runtime.operators.stateless.nested_values import (
    contains,
    elements,
    entries,
    index_refused,
    sizes,
)
from streamapp_runtime.operators.stateless.number_functions import DIVISIONS, divisors_of, rounded, signs_of
from streamapp_runtime.operators.stateless.text_functions import (
    BYTES_FUNCTIONS,
    TEXT_FUNCTIONS,
    joined,
    text_of_times,
)
from streamapp_runtime.operators.stateless.value_order import EvaluatedValue, compared

_TESTS: Final[Mapping[str, Callable[[EvaluatedValue, str], EvaluatedValue]]] = {
    "starts": pc.starts_with,
    "ends": pc.ends_with,
    "contains": pc.match_substring,
}
_CHECKED: Final[Mapping[str, Callable[[EvaluatedValue, EvaluatedValue], EvaluatedValue]]] = {
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
}
_EXACT: Final[Mapping[str, Callable[[int, int], int]]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
}
_TOLERANT: Final = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}
_DIVISION_BY_ZERO: Final = "Division by zero. Use `try_divide`"
_BY_ZERO: Final = {"/": _DIVISION_BY_ZERO, "div": _DIVISION_BY_ZERO, "%": "Remainder by zero. Use `try_mod`"}
_OVERFLOW: Final = "Spark says: overflow"
_LEAST: Final = pa.scalar(-(2**63), pa.int64())


class _Evaluation:
    """Computes values over the columns of some rows, and notes why rows of them failed.

    Each method gives a column or a scalar.
    """

    def __init__(self, columns: Sequence[pa.Array], rows: int) -> None:
        """Nothing has failed yet."""
        self.columns, self.rows = columns, rows
        self.failures: dict[int, str] = {}

    def array(self, result: EvaluatedValue, kind: pa.DataType) -> pa.Array:
        """A column of a type; a scalar is the value of each row."""
        if isinstance(result, pa.Scalar):
            return pa.repeat(result.cast(kind), self.rows)
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        return result if result.type == kind else result.cast(kind)

    def computed(self, value: RowValue, needed: np.ndarray) -> EvaluatedValue:
        """A value; a failure of rows for which Spark would not compute it is none."""
        return _EVALUATORS[type(value)](self, value, needed)

    def operands(self, values: Iterable[RowValue], needed: np.ndarray) -> Iterator[EvaluatedValue]:
        """Values that are computed for the same rows."""
        return (self.computed(value, needed) for value in values)

    def in_turn(self, values: Iterable[RowValue], needed: np.ndarray) -> list[EvaluatedValue]:
        """Values of which Spark computes none behind one that is null."""
        computed: list[EvaluatedValue] = []
        for value in values:
            if may_fail(value):
                for before in computed:
                    needed = needed & np.asarray(self.array(pc.is_valid(before), pa.bool_()))
            computed.append(self.computed(value, needed))
        return computed

    def fitting(
        self,
        values: Sequence[int | None],
        kind: pa.DataType,
        needed: np.ndarray,
        reason: Callable[[int], str],
    ) -> pa.Array:
        """Whole numbers as a type; those that have no place in it are null, and failed where needed."""
        most = 2 ** (kind.bit_width - 1) - 1
        outside = np.array([number is not None and not -most - 1 <= number <= most for number in values])
        self.fail(outside & needed, lambda row: reason(values[row] or 0))
        return pa.array([None if out else number for number, out in zip(values, outside, strict=True)], kind)

    def fail(self, rows: np.ndarray, reason: Callable[[int], str]) -> None:
        """Note why rows failed, where nothing was noted before."""
        for row in np.flatnonzero(rows).tolist():
            self.failures.setdefault(row, reason(row))

    def comparison(self, one: Comparison, needed: np.ndarray) -> EvaluatedValue:
        return compared(one.sign, *self.in_turn((one.left, one.right), needed))

    def null_safe(self, one: NullSafeEquality, needed: np.ndarray) -> EvaluatedValue:
        left, right = self.operands((one.left, one.right), needed)
        both_null = pc.and_(pc.is_null(left), pc.is_null(right))
        return pc.coalesce(compared("=", left, right), both_null)

    def among(self, one: InList, needed: np.ndarray) -> EvaluatedValue:
        operand = self.computed(one.of, needed)
        is_listed = pc.is_in(operand, value_set=pa.array(one.values, _scalar(one.values[0]).type))
        return pc.if_else(pc.is_valid(operand), is_listed, None)

    def substring(self, one: Substring, needed: np.ndarray) -> EvaluatedValue:
        return pc.utf8_slice_codeunits(self.computed(one.of, needed), one.start, one.stop)

    def joined(self, one: JoinedTexts, needed: np.ndarray) -> EvaluatedValue:
        return joined(one.separator, [self.array(v, pa.string()) for v in self.operands(one.values, needed)])

    def text_function(self, one: TextFunction, needed: np.ndarray) -> EvaluatedValue:
        texts = self.array(self.computed(one.of, needed), pa.string())
        return TEXT_FUNCTIONS[one.function](texts, *one.arguments)

    def bytes_function(self, one: BytesFunction, needed: np.ndarray) -> EvaluatedValue:
        column = self.array(self.computed(one.of, needed), pa.binary())
        return BYTES_FUNCTIONS[one.function](column, *one.arguments)

    def element(self, one: ElementValue, needed: np.ndarray) -> EvaluatedValue:
        of, index = self.in_turn((one.of, one.index), needed)
        arrays, indices = self.array(of, of.type), self.array(index, pa.int64())
        values, outside = elements(arrays, indices, one.function)
        if one.function != "get":
            self.fail(
                outside & needed,
                lambda row: index_refused(one.function, indices[row].as_py(), len(arrays[row])),
            )
        return values

    def is_element(self, one: ArrayContains, needed: np.ndarray) -> EvaluatedValue:
        arrays, element = self.operands((one.of, one.element), needed)
        return contains(arrays, self.array(element, arrays.type.value_type))

    def arithmetic(self, one: Arithmetic, needed: np.ndarray) -> EvaluatedValue:
        sign, kind = one.sign, arrow_type(one.type)
        if sign in DIVISIONS:
            second, first = (self.array(side, kind) for side in self.in_turn((one.right, one.left), needed))
            by_zero = divisors_of(second, 0) & np.asarray(first.is_valid())
            tolerant = "to tolerate {} and return NULL instead"
            self.fail(
                by_zero & needed,
                lambda _: f"Spark says: {_BY_ZERO[sign]} {tolerant.format('divisor being 0')}",
            )
            if sign == "div":
                too_large = divisors_of(second, -1) & np.asarray(pc.equal(first, _LEAST).fill_null(False))
                words = f"Overflow in integral divide. Use 'try_divide' {tolerant.format('overflow')}"
                self.fail(too_large & needed, lambda _: f"Spark says: {words}")
            return DIVISIONS[sign](first, second)
        first, second = (side.cast(kind) for side in self.in_turn((one.left, one.right), needed))
        try:
            return _CHECKED[sign](first, second)
        except pa.ArrowInvalid:
            pairs = zip(*(self.array(side, kind).to_pylist() for side in (first, second)), strict=True)
            values = [None if None in pair else _EXACT[sign](*pair) for pair in pairs]
            tolerant = f". Use '{_TOLERANT[sign]}' to tolerate overflow and return NULL instead"
            return self.fitting(values, kind, needed, lambda _: f"{_OVERFLOW}{tolerant}")

    def decimal_arithmetic(self, one: DecimalArithmetic, needed: np.ndarray) -> EvaluatedValue:
        return _CHECKED[one.sign](*self.in_turn((one.left, one.right), needed)).cast(arrow_type(one.type))

    def negated(self, one: Negation, needed: np.ndarray) -> EvaluatedValue:
        return self.checked(one, pc.negate_checked, int.__neg__, needed)

    def number_function(self, one: NumberFunction, needed: np.ndarray) -> EvaluatedValue:
        if one.function == "abs":
            return self.checked(one, pc.abs_checked, int.__abs__, needed)
        doubles = self.array(self.computed(one.of, needed), pa.float64())
        if one.function == "sign":
            return signs_of(doubles)
        values, outside = rounded(one.function, doubles)
        self.fail(outside & needed, lambda _: _OVERFLOW)
        return values

    def checked(
        self,
        one: Negation | NumberFunction,
        function: Callable[[EvaluatedValue], EvaluatedValue],
        exact: Callable[[int], int],
        needed: np.ndarray,
    ) -> EvaluatedValue:
        """The result of a function of numbers; Arrow's refuses a column with one that has no place in it."""
        of = self.computed(one.of, needed)
        try:
            return function(of)
        except pa.ArrowInvalid:
            values = [None if number is None else exact(number) for number in of.to_pylist()]
            return self.fitting(values, arrow_type(one.type), needed, lambda _: _OVERFLOW)

    def extreme(self, one: Extreme, needed: np.ndarray) -> EvaluatedValue:
        kind = arrow_type(one.type)
        result, *others = (self.array(value, kind) for value in self.operands(one.values, needed))
        for value in others:
            is_beyond = pc.coalesce(compared(one.sign, value, result), pc.is_null(result))
            result = pc.if_else(is_beyond, value, result)
        return result

    def cast(self, cast: Cast, needed: np.ndarray) -> EvaluatedValue:
        of, kind = self.computed(cast.of, needed), arrow_type(cast.type)
        if pa.types.is_decimal(kind):
            of = of.cast(arrow_type(cast.source))  # a literal is as wide as can be
        if pa.types.is_temporal(of.type):
            return text_of_times(self.array(of, of.type))
        if not narrows(cast):
            return of.cast(kind, safe=False)
        try:
            return of.cast(kind)
        except pa.ArrowInvalid:
            suffix = {"BIGINT": "L", "SMALLINT": "S"}.get(cast.source, "")
            return self.fitting(
                of.to_pylist(),
                kind,
                needed,
                lambda number: (
                    f'Spark says: The value {number}{suffix} of the type "{cast.source}" cannot be cast to '
                    f'"{cast.type}" due to an overflow. Use `try_cast` to tolerate overflow and return NULL '
                    "instead"
                ),
            )

    def case(self, case: Case, needed: np.ndarray) -> pa.Array:
        kind, left = arrow_type(case.type), needed
        conditions: list[pa.Array] = []
        values: list[pa.Array] = []
        for test, value in case.branches:
            holds = self.array(self.computed(test, left), pa.bool_()).fill_null(False)
            conditions.append(holds)
            values.append(self.array(self.computed(value, left & np.asarray(holds)), kind))
            left = left & ~np.asarray(holds)
        otherwise = self.array(self.computed(case.otherwise, left), kind)
        names = [str(number) for number in range(len(conditions))]
        return pc.case_when(pa.StructArray.from_arrays(conditions, names), *values, otherwise)

    def required(self, one: RequiredValue, needed: np.ndarray) -> pa.Array:
        result = self.array(self.computed(one.of, needed), arrow_type(one.type))
        if result.null_count:
            self.fail(needed & np.asarray(result.is_null()), lambda _: one.error)
        return result

    def first_value(self, one: Coalesce, needed: np.ndarray) -> pa.Array:
        kind = arrow_type(one.type)
        result = self.array(self.computed(one.values[0], needed), kind)
        for value in one.values[1:]:
            needed = needed & np.asarray(result.is_null())
            result = pc.coalesce(result, self.array(self.computed(value, needed), kind))
        return result


class RowValues:
    """The columns of some rows, what is computed of them, and the rows on which that failed."""

    def __init__(self, columns: Sequence[pa.Array], rows: int) -> None:
        """Nothing is computed yet."""
        self._evaluation = _Evaluation(columns, rows)

    @property
    def failures(self) -> Mapping[int, str]:
        """By row, in Spark's words."""
        return self._evaluation.failures

    def column(self, value: RowValue, kind: pa.DataType) -> pa.Array:
        """A value for each row, null where it failed."""
        evaluation = self._evaluation
        return evaluation.array(evaluation.computed(value, np.ones(evaluation.rows, bool)), kind)

    def condition(self, value: RowValue) -> pa.BooleanArray:
        """For each row whether a condition is true; what is null is not."""
        result = self.column(value, pa.bool_())
        return result.fill_null(False) if result.null_count else result


def _scalar(value: ConstantValue) -> pa.Scalar:
    """Whole numbers are as wide as can be; Arrow widens what they are compared with."""
    return pa.scalar(value, pa.int64() if type(value) is int else None)


_EVALUATORS: Final[Mapping[type, Callable[[_Evaluation, Any, np.ndarray], EvaluatedValue]]] = {
    ColumnValue: lambda rows, one, _: rows.columns[one.position],
    Constant: lambda _, one, __: _scalar(one.value),
    NullValue: lambda _, one, __: pa.scalar(None, arrow_type(one.type)),
    Comparison: _Evaluation.comparison,
    TextTest: lambda rows, one, needed: _TESTS[one.test](rows.computed(one.of, needed), one.text),
    InList: _Evaluation.among,
    IsNull: lambda rows, one, needed: pc.is_null(rows.computed(one.of, needed)),
    And: lambda rows, one, needed: pc.and_kleene(*rows.operands((one.left, one.right), needed)),
    Or: lambda rows, one, needed: pc.or_kleene(*rows.operands((one.left, one.right), needed)),
    Not: lambda rows, one, needed: pc.invert(rows.computed(one.of, needed)),
    NullSafeEquality: _Evaluation.null_safe,
    Arithmetic: _Evaluation.arithmetic,
    DecimalArithmetic: _Evaluation.decimal_arithmetic,
    Negation: _Evaluation.negated,
    NumberFunction: _Evaluation.number_function,
    Extreme: _Evaluation.extreme,
    Cast: _Evaluation.cast,
    Case: _Evaluation.case,
    Coalesce: _Evaluation.first_value,
    RequiredValue: _Evaluation.required,
    Concat: lambda rows, one, needed: pc.binary_join_element_wise(
        *rows.in_turn(one.values, needed), "", null_handling="emit_null"
    ),
    JoinedTexts: _Evaluation.joined,
    TextFunction: _Evaluation.text_function,
    BytesFunction: _Evaluation.bytes_function,
    FieldValue: lambda rows, one, needed: pc.struct_field(rows.computed(one.of, needed), [one.index]),
    ElementValue: _Evaluation.element,
    MapEntry: lambda rows, one, needed: entries(rows.computed(one.of, needed), one.key),
    CollectionSize: lambda rows, one, needed: sizes(rows.computed(one.of, needed)),
    ArrayContains: _Evaluation.is_element,
    LikePattern: lambda rows, one, needed: pc.match_substring_regex(rows.computed(one.of, needed), one.regex),
    Substring: _Evaluation.substring,
    TimeConstant: lambda _, one, __: pa.scalar(one.value),
}
if missing := set(get_args(RowValue)) - _EVALUATORS.keys():
    raise TypeError(f"nothing evaluates {', '.join(sorted(kind.__name__ for kind in missing))}")
