"""Predicates over columns, against three-valued logic a row at a time."""

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.expressions.row_value import (
    And,
    ColumnValue,
    Comparison,
    Constant,
    InList,
    IsNull,
    Not,
    Or,
    Predicate,
    TextTest,
)
from streamapp_runtime.operators.compilation.row_operations import FilterRows
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.stateless.row_executors import FilterRowsExecutor
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from tests.harness.engine.plain_rows import Row, rows_of, slice_of

SCHEMA = pa.schema(
    [("text", pa.string()), ("small", pa.int32()), ("large", pa.int64()), ("said", pa.bool_())]
)
TEXTS = st.sampled_from(["", "a", "ab", "b", "ba", "é", "e\u0301", "\U0001f600", "\uffff", "a\nb", "A"])
NUMBERS = st.integers(-3, 3)
ROWS = st.lists(
    st.tuples(*(st.none() | values for values in (TEXTS, NUMBERS, NUMBERS, st.booleans()))), max_size=8
)


def _comparisons() -> st.SearchStrategy[Predicate]:
    texts = st.just(ColumnValue(0)) | st.builds(Constant, TEXTS)
    numbers = st.sampled_from([ColumnValue(1), ColumnValue(2)]) | st.builds(Constant, NUMBERS)
    said = st.just(ColumnValue(3)) | st.builds(Constant, st.booleans())
    signs = st.sampled_from(["=", "<", "<=", ">", ">="])
    return st.one_of(
        *(st.builds(Comparison, signs, kind, kind) for kind in (texts, numbers, said)),
        *(st.builds(IsNull, kind) for kind in (texts, numbers, said)),
        st.builds(TextTest, st.sampled_from(["starts", "ends", "contains"]), texts, TEXTS),
        st.builds(InList, texts, st.lists(TEXTS, min_size=1).map(tuple)),
        st.builds(InList, numbers, st.lists(NUMBERS, min_size=1).map(tuple)),
        said,
    )


PREDICATES = st.recursive(
    _comparisons(),
    lambda inner: st.builds(And, inner, inner) | st.builds(Or, inner, inner) | st.builds(Not, inner),
    max_leaves=6,
)


@given(PREDICATES, ROWS)
def test_a_predicate_holds_where_it_is_true_and_not_where_it_is_null(
    predicate: Predicate, rows: list[tuple[Any, ...]]
) -> None:
    columns = slice_of([Row(columns=row) for row in rows], SCHEMA).columns
    assert RowValues(columns, len(rows)).condition(predicate).to_pylist() == [
        truth(predicate, row) is True for row in rows
    ]


@given(PREDICATES, ROWS)
def test_a_tombstone_is_kept_whatever_the_condition(
    predicate: Predicate, rows: list[tuple[Any, ...]]
) -> None:
    given_rows = [Row(columns=row) for row in rows] + [Row(key=b"gone")]
    kept = FilterRowsExecutor(FilterRows(predicate)).execute((slice_of(given_rows, SCHEMA),), NOTHING)
    assert rows_of(kept) == [
        row for row in given_rows if row.columns is None or truth(predicate, row.columns) is True
    ]


NOTHING = LaneState(lambda task, name: (_ for _ in ()).throw(AssertionError(name)), {}, tasks=1, time_ms=0)


def truth(predicate: Predicate, row: tuple[Any, ...]) -> Any:
    """The value for one row; None for null."""
    match predicate:
        case ColumnValue(position):
            found = row[position]
        case Constant(value):
            found = value
        case IsNull(of):
            found = truth(of, row) is None
        case And(left, right):
            sides = (truth(left, row), truth(right, row))
            found = False if False in sides else None if None in sides else True
        case Or(left, right):
            sides = (truth(left, row), truth(right, row))
            found = True if True in sides else None if None in sides else False
        case Comparison(sign, left, right):
            a, b = truth(left, row), truth(right, row)
            found = None if a is None or b is None else compared(sign, ordered(a), ordered(b))
        case Not(of) | TextTest(_, of, _) | InList(of, _):
            value = truth(of, row)
            found = None if value is None else of_one(predicate, value)
    return found


def of_one(predicate: Not | TextTest | InList, value: Any) -> bool:
    match predicate:
        case TextTest("starts", _, text):
            return bool(value.startswith(text))
        case TextTest("ends", _, text):
            return bool(value.endswith(text))
        case TextTest(_, _, text):
            return text in value
        case InList(_, values):
            return value in values
        case Not():
            return not value


def ordered(value: Any) -> Any:
    """Texts have the order of their bytes."""
    return value.encode() if isinstance(value, str) else value


def compared(sign: str, a: Any, b: Any) -> bool:
    return bool({"=": a == b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign])
