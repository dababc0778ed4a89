"""The type of an expression, where it is sure without Spark; empty text where only Spark can tell."""

from typing import Final

from sqlglot import exp

from streamapp.columns.column_scope import ColumnScope
from streamapp.spec.value_types.column_list import SIMPLE, SYNONYMS, Column

UNKNOWN: Final = ""
"""The type of a column of which only the name is sure."""

_BOOLEANS: Final = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Is,
    exp.Between,
    exp.In,
    exp.Boolean,
)
_TEXTS: Final = (exp.Upper, exp.Lower, exp.Trim)
_MOST_INT: Final = 2**31 - 1


def known_type(declared: str) -> str:
    """A declared type as Spark names it, where that is a matter of one word."""
    word = SYNONYMS.get(declared, declared)
    if word.startswith(("CHAR(", "VARCHAR(")):
        return "STRING"
    return word if word in SIMPLE else UNKNOWN


def with_known_types(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Declared columns as rows have them: a tombstone has null in each, whatever was declared."""
    return tuple(Column(column.name, known_type(column.type)) for column in columns)


def type_of(tree: exp.Expression, scope: ColumnScope) -> str:
    """The type of a tree over a scope whose names it uses."""
    if isinstance(tree, exp.Paren):
        return type_of(tree.this, scope)
    if isinstance(tree, exp.Column):
        match = scope.find(tuple(part.name for part in tree.parts))
        return UNKNOWN if match is None or match[1] else scope.columns[match[0]].type
    if isinstance(tree, exp.Literal):
        return _literal(tree)
    if isinstance(tree, _BOOLEANS):
        return "BOOLEAN"
    if isinstance(tree, exp.Count):
        return "BIGINT"
    return "STRING" if isinstance(tree, _TEXTS) and _is_text(tree.this, scope) else UNKNOWN


def _literal(tree: exp.Literal) -> str:
    if tree.is_string:
        return "STRING"
    return "INT" if tree.this.isdigit() and int(tree.this) <= _MOST_INT else UNKNOWN


def _is_text(tree: exp.Expression, scope: ColumnScope) -> bool:
    """A text of a collation would give one of that collation; what a column declares has none."""
    return type_of(tree, scope) == "STRING"
