"""Select lists, conditions and keys over known columns: what they give, or why Spark would refuse them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from streamapp.columns.column_rules import (
    require_boolean,
    require_one_generator,
    require_running_total,
    require_unique,
)
from streamapp.columns.column_scope import ColumnScope
from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.columns.function_arities import FUNCTION_ARITIES
from streamapp.columns.known_types import UNKNOWN, type_of
from streamapp.columns.spark_functions import (
    AGGREGATE_FUNCTIONS,
    FUNCTIONS,
    GENERATORS,
    NONDETERMINISTIC_FUNCTIONS,
    WORDS_BEFORE_BRACKETS,
    WORDS_FOR_NOW,
)
from streamapp.columns.sql_reading import CalledFunction, ReadEntry, ReadList, tokenized
from streamapp.spec.problem import LONGEST, short
from streamapp.spec.value_types.column_list import Column

MOST_APP_EFFORT: Final = 100_000
"""What is read of one app's expressions, in tokens; Spark alone judges the others."""

MOST_NAMES: Final = 5
"""So many unknown names of one expression are told."""

Chosen = tuple[int | None, Column]
"""A column of a select list, and the position of the one that it is as it stands."""


@dataclass(slots=True)
class SqlReader:
    """Reads the expressions of one app, until it has read enough."""

    functions_are_known: bool = True  # whether there are none but Spark's own
    effort_left: int = MOST_APP_EFFORT

    def select(self, text: str, scope: ColumnScope, *, generators: bool = False) -> tuple[Chosen, ...] | None:
        """The columns of a select list, which has one generator or none; None where only Spark can tell."""
        read = self._read(text)
        if read is None:
            return None
        if generators:
            require_one_generator(sum(entry.generator for entry in read.entries))
        _refuse_what_rows_cannot(read, generators=generators)
        self._refuse_unknown_names(read, scope)
        chosen: list[Chosen] = []
        for entry in read.entries:
            columns = _entry_columns(entry, scope)
            if columns is None:
                return None
            chosen += columns
        require_unique(tuple(column for _, column in chosen))
        return tuple(chosen)

    def condition(self, text: str, scope: ColumnScope) -> None:
        """Refuse what is surely no condition over a scope."""
        entry = self._single(text, scope)
        if entry is not None:
            require_boolean(type_of(entry.tree, scope))

    def key(self, text: str, scope: ColumnScope) -> tuple[str | None] | None:
        """The column that a key is, None in it where it is an expression; None where that is not known."""
        entry = self._single(text, scope)
        if entry is None:
            return None
        match = None if entry.column is None else scope.find(entry.column.parts)
        return (None if match is None or match[1] else scope.columns[match[0]].name,)

    def names(self, text: str, scope: ColumnScope) -> frozenset[str]:
        """The columns that one expression reads; all of the scope's where only Spark can tell."""
        entry = self._single(text, scope)
        if entry is None:
            return frozenset(column.name for column in scope.columns)
        matches = (scope.find(name.parts) for name in entry.columns)
        return frozenset(scope.columns[match[0]].name for match in matches if match is not None)

    def aggregates(self, text: str, scope: ColumnScope) -> tuple[Column, ...] | None:
        """The columns of a list of running totals; None where only Spark can tell them."""
        read = self._read(text)
        if read is None:
            return None
        if any(entry.star_of is not None for entry in read.entries):
            raise CompileRefusedError("has a *; allowed are aggregate functions and what is made of them")
        for call in read.calls:
            if call.name in AGGREGATE_FUNCTIONS:
                require_running_total(call.name, distinct=call.distinct)
        self._refuse_unknown_names(read, scope)
        columns = [_entry_columns(entry, scope) for entry in read.entries]
        return tuple(column for some in columns if some for _, column in some) if all(columns) else None

    def _single(self, text: str, scope: ColumnScope) -> ReadEntry | None:
        read = self._read(text)
        if read is None:
            return None
        if len(read.entries) != 1 or read.entries[0].star_of is not None or read.entries[0].alias:
            raise CompileRefusedError("has to be one expression, without an alias")
        _refuse_what_rows_cannot(read, generators=False)
        self._refuse_unknown_names(read, scope)
        return read.entries[0]

    def _read(self, text: str) -> ReadList | None:
        expressions = tokenized(text)
        if expressions is None or expressions.effort > self.effort_left:
            return None
        self.effort_left -= expressions.effort
        read = expressions.read()
        if read is None and (messages := list(self._unknown_functions(expressions.calls))):
            raise CompileRefusedError(_in_one(messages))
        if read is not None and read.has_clause:
            raise CompileRefusedError(
                "is more than expressions: FROM, WHERE, DISTINCT and the like have no place here"
            )
        return read

    def _refuse_unknown_names(self, read: ReadList, scope: ColumnScope) -> None:
        """Refuse all names that are surely none, at once."""
        messages = list(dict.fromkeys((*_unknown_columns(read, scope), *self._unknown_functions(read.calls))))
        if messages:
            raise CompileRefusedError(_in_one(messages))

    def _unknown_functions(self, calls: Iterable[CalledFunction]) -> Iterator[str]:
        for call in calls if self.functions_are_known else ():
            place = f"at character {call.place}"
            if call.name not in FUNCTIONS and call.name not in WORDS_BEFORE_BRACKETS:
                yield f'no function "{short(call.name)}" {place}{_similar_function(call.name)}'
            takes = FUNCTION_ARITIES.get(call.name)
            if takes is not None and call.arguments is not None and call.arguments not in takes:
                yield f'"{call.name}" takes {_counted(takes)}; found {call.arguments} {place}'


def _in_one(messages: list[str]) -> str:
    """The first messages as sentences behind each other."""
    shown, more = messages[:MOST_NAMES], len(messages) - MOST_NAMES
    if more > 0:
        shown.append(f"{more} more")
    ended = [message if message.endswith("?") else f"{message}." for message in shown[:-1]]
    return " Also ".join((*ended, shown[-1]))


def _unknown_columns(read: ReadList, scope: ColumnScope) -> Iterator[str]:
    for entry in read.entries:
        for name in entry.columns:
            if scope.find(name.parts) is None and name.parts[0].lower() not in WORDS_FOR_NOW:
                yield scope.unknown(name.parts)


def _similar_function(name: str) -> str:
    """The tail of a message about an unknown function: the one that was probably meant, if any."""
    close = [] if len(name) > LONGEST else get_close_matches(name, sorted(FUNCTIONS), n=1)
    return f'; did you mean "{close[0]}"?' if close else ""


def _counted(numbers: frozenset[int]) -> str:
    """Numbers of arguments, in words."""
    *first, last = map(str, sorted(numbers))
    listed = f"{', '.join(first)} or {last}" if first else "no" if last == "0" else last
    return f"{listed} argument{'s' * (numbers != {1})}"


def _refuse_what_rows_cannot(read: ReadList, *, generators: bool) -> None:
    """Refuse what has no place in an expression over single rows."""
    if read.has_query:
        raise CompileRefusedError("a subquery cannot be asked for each row; join a table instead")
    if read.has_window:
        raise CompileRefusedError("a window function has no place here; aggregate with a window instead")
    for call in read.calls:
        if call.name in AGGREGATE_FUNCTIONS:
            raise CompileRefusedError("an aggregate function has no place here; use an aggregate operator")
        if call.name in GENERATORS and not generators:
            raise CompileRefusedError(
                "a generator such as explode makes many rows of one; use a flatMap operator"
            )
        if call.name in NONDETERMINISTIC_FUNCTIONS:
            raise CompileRefusedError(
                "gives another answer each time it is asked, so a repeated batch would not give the same "
                "rows; use only functions of the row"
            )


def _entry_columns(entry: ReadEntry, scope: ColumnScope) -> list[Chosen] | None:
    """The columns that an entry of a select list gives; None where Spark alone knows the name."""
    if entry.star_of is not None:
        positions = scope.star(entry.star_of or None)
        if positions is None:
            raise CompileRefusedError(scope.unknown((entry.star_of, "*")))
        return [(position, scope.columns[position]) for position in positions]
    match = None if entry.column is None else scope.find(entry.column.parts)
    position = None if match is None or match[1] else match[0]
    if entry.alias:
        kind = UNKNOWN if entry.generator else type_of(entry.tree, scope)
        return [(position, Column(name, kind)) for name in entry.alias]
    if entry.column is None or match is None:
        return None
    return [(position, Column(entry.column.parts[-1], type_of(entry.tree, scope)))]
