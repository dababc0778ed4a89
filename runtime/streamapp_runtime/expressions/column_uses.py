"""The use that an expression makes of each column: as it is, to compute a value, or to choose a value.

Which columns an expression reads is Spark's word, in its template. sqlglot says only which of them stand in
a condition, and where it does not read the expression all of them count as computed with.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from sqlglot import exp

from streamapp.columns.sql_reading import tokenized
from streamapp_runtime.expressions.template import Template

_HOLE: Final = "column_"
_NOW: Final = "now()"


class ColumnUse(StrEnum):
    """The use of a column for something made of it; the weaker of two direct uses comes first."""

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    CONDITIONAL = "CONDITIONAL"  # a condition by which a value is chosen
    FILTER = "FILTER"  # a condition by which rows are kept, dropped or repeated
    JOIN = "JOIN"  # what rows are paired by
    GROUP_BY = "GROUP_BY"
    WINDOW = "WINDOW"  # the time by which rows fall into windows

    @property
    def is_direct(self) -> bool:
        """True if the column's values get into what is made; else they decide about it."""
        return self in _DIRECT

    def then(self, use: "ColumnUse") -> "ColumnUse":
        """The use of a column for a thing that is made of something that is made of the column."""
        if not (self.is_direct and use.is_direct):
            return self if use.is_direct else use
        return max(self, use, key=_DIRECT.index)


_DIRECT: Final = (ColumnUse.IDENTITY, ColumnUse.TRANSFORMATION, ColumnUse.AGGREGATION)


def column_uses(template: Template) -> Mapping[int, frozenset[ColumnUse]]:
    """The uses of each position that an expression reads; a position may have several."""
    if template.column is not None:
        return {template.column: frozenset((ColumnUse.IDENTITY,))}
    uses: dict[int, set[ColumnUse]] = {position: set() for position in template.columns}
    for position, use in _uses_read(template):
        uses[position].add(use)
    computed = frozenset((ColumnUse.TRANSFORMATION,))
    return {position: frozenset(read_uses) or computed for position, read_uses in uses.items()}


def _uses_read(template: Template) -> Iterator[tuple[int, ColumnUse]]:
    """The uses that sqlglot reads in a template: none, where it does not take the text."""
    names = {f"{_HOLE}{position}": position for position in template.columns}
    holes = [f"{_HOLE}{position}" for position in range(max(template.columns, default=-1) + 1)]
    tokens = tokenized(template.over(holes, _NOW))
    read = None if tokens is None else tokens.read()
    for entry in () if read is None else read.entries:
        for node in entry.tree.find_all(exp.Column):
            position = names.get(node.parts[0].name)
            if position is not None:
                yield position, ColumnUse.CONDITIONAL if _is_in_condition(node) else ColumnUse.TRANSFORMATION


def _is_in_condition(node: exp.Column) -> bool:
    """True if a node stands in what an IF or a CASE decides by."""
    child: exp.Expr = node
    parent = child.parent
    while parent is not None:
        if isinstance(parent, exp.If | exp.Case) and parent.this is child:
            return True
        child, parent = parent, parent.parent
    return False
