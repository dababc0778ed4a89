"""The predicate of a condition by Spark's own tree of it: an oracle of the predicate that its text gives.

The tree is the analysed one: types are settled and every cast that Spark puts in is seen.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from pyspark.sql import SparkSession

from streamapp.columns.column_scope import ColumnScope
from streamapp_runtime.expressions.analysis import null_row_sql
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    And,
    ColumnValue,
    Comparison,
    Constant,
    ConstantValue,
    InList,
    IsNull,
    Not,
    Or,
    Predicate,
    TextTest,
    like_test,
)

_WHOLE: Final = tuple(name.lower() for name in WHOLE_TYPES)  # as Spark writes them, narrower ones first
_KINDS: Final[Mapping[str, type[ConstantValue]]] = {"string": str, "boolean": bool} | dict.fromkeys(
    _WHOLE, int
)
_SIGNS = {
    "EqualTo": "=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
}
_LOGIC: Final[Mapping[str, type[And | Or]]] = {"And": And, "Or": Or}
_TESTS = {"StartsWith": "starts", "EndsWith": "ends", "Contains": "contains"}


class _BeyondError(Exception):
    """Something in the tree that only Spark can compute."""


def analysed_predicate(spark: SparkSession, text: str, scope: ColumnScope) -> Predicate | None:
    """The condition as a predicate over a scope's positions; None where the tree has anything else."""
    frame = spark.sql(f"SELECT {text}\nAS `condition`\nFROM (SELECT {null_row_sql(scope)})")
    tree = frame._jdf.queryExecution().analyzed().projectList().apply(0).child()
    try:
        return _read(tree, scope.by_name())
    except _BeyondError:
        return None


def _read(tree: Any, names: Mapping[str, int]) -> Predicate:
    kind = tree.nodeName()
    if kind not in _READERS:
        raise _BeyondError
    return _READERS[kind](tree, names)


def _field(tree: Any, names: Mapping[str, int]) -> Predicate:
    _kind(tree)
    return ColumnValue(names[tree.name().lower()])


def _constant(tree: Any, _: Mapping[str, int]) -> Predicate:
    return Constant(_value(tree))


def _value(tree: Any) -> ConstantValue:
    if tree.nodeName() == "Cast" and _widens(tree):
        return _value(tree.child())
    kind = _kind(tree)
    if tree.nodeName() != "Literal" or tree.value() is None:
        raise _BeyondError
    value = tree.value()
    return value.toString() if kind is str else kind(value)


def _cast(tree: Any, names: Mapping[str, int]) -> Predicate:
    """Whole numbers are compared as such, however wide they are."""
    if not _widens(tree):
        raise _BeyondError
    return _read(tree.child(), names)


def _widens(tree: Any) -> bool:
    before, after = tree.child().dataType().simpleString(), tree.dataType().simpleString()
    return before in _WHOLE and after in _WHOLE and _WHOLE.index(before) <= _WHOLE.index(after)


def _comparison(tree: Any, names: Mapping[str, int]) -> Predicate:
    if _kind(tree.left()) is not _kind(tree.right()):
        raise _BeyondError
    return Comparison(_SIGNS[tree.nodeName()], _read(tree.left(), names), _read(tree.right(), names))


def _logic(tree: Any, names: Mapping[str, int]) -> Predicate:
    return _LOGIC[tree.nodeName()](_read(tree.left(), names), _read(tree.right(), names))


def _opposite(tree: Any, names: Mapping[str, int]) -> Predicate:
    return Not(_read(tree.child(), names))


def _is_null(tree: Any, names: Mapping[str, int]) -> Predicate:
    is_null = IsNull(_read(tree.child(), names))
    return is_null if tree.nodeName() == "IsNull" else Not(is_null)


def _one_of(tree: Any, names: Mapping[str, int]) -> Predicate:
    kind = _kind(tree.value())
    elements = list(_elements(tree.list()))
    if any(_kind(each) is not kind for each in elements):
        raise _BeyondError
    return InList(_read(tree.value(), names), tuple(_value(each) for each in elements))


def _text_test(tree: Any, names: Mapping[str, int]) -> Predicate:
    text = _value(tree.right())
    if not isinstance(text, str) or _kind(tree.left()) is not str:
        raise _BeyondError
    return TextTest(_TESTS[tree.nodeName()], _read(tree.left(), names), text)


def _like(tree: Any, names: Mapping[str, int]) -> Predicate:
    """A pattern that says how a text begins, ends, what it contains, or all of it."""
    pattern = _value(tree.right())
    if not isinstance(pattern, str) or _kind(tree.left()) is not str:
        raise _BeyondError
    test = like_test(_read(tree.left(), names), pattern, str(tree.escapeChar()))
    if test is None:
        raise _BeyondError
    return test


def _kind(tree: Any) -> type[ConstantValue]:
    """Of which kind a value is; a text of a collation has other rules than its bytes."""
    kind = _KINDS.get(tree.dataType().simpleString())
    if kind is None:
        raise _BeyondError
    return kind


def _elements(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(index) for index in range(sequence.size()))


_READERS: Final[Mapping[str, Callable[[Any, Mapping[str, int]], Predicate]]] = {
    "AttributeReference": _field,
    "Cast": _cast,
    "In": _one_of,
    "IsNotNull": _is_null,
    "IsNull": _is_null,
    "Like": _like,
    "Literal": _constant,
    "Not": _opposite,
    **dict.fromkeys(_LOGIC, _logic),
    **dict.fromkeys(_SIGNS, _comparison),
    **dict.fromkeys(_TESTS, _text_test),
}
