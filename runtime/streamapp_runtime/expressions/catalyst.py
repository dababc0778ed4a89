"""Spark's own reading of an expression: which words in it are columns, functions, aliases, and where.

The parser that will run an expression is the one that says what its words mean: struct fields, lambda
variables, units and type names are never mistaken for columns. It is asked in a JVM that knows Spark.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.spec.value_types.expressions import (
    SqlToken,
    list_entries,
    sql_tokens,
    within_brackets,
    without_alias,
)
from streamapp_runtime.expressions.plain.plain_expression import PlainCall, PlainEntry, plain_entries
from streamapp_runtime.expressions.spark_source import SparkSource, SyntaxTree, TextRefusedError, spark_jvm
from streamapp_runtime.expressions.sql_types import quoted

SUBQUERIES: Final = frozenset({"ScalarSubquery", "ListQuery", "InSubquery", "Exists", "LateralSubquery"})
_CALLS: Final = frozenset({"UnresolvedFunction", "AggregateExpression"})
"""Aggregates such as FIRST are words of the grammar."""
_LEAD: Final = "SELECT "
"""The text before a list, from whose beginning Spark counts places."""


@dataclass(frozen=True, slots=True)
class SqlName:
    """A column or a function by its dotted name, and where it stands in the item's text."""

    parts: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FunctionCall(SqlName):
    """A function that is called, and whether it is called with DISTINCT."""

    distinct: bool = False


@dataclass(frozen=True, slots=True)
class SelectItem:
    """One entry of a select list."""

    text: str  # without its alias
    alias: tuple[str, ...]
    columns: tuple[SqlName, ...]
    calls: tuple[FunctionCall, ...]  # outer ones before those inside them
    star: bool = False
    star_of: str | None = None

    @property
    def whole(self) -> str:
        """The entry with its alias."""
        names = ", ".join(quoted(name) for name in self.alias)
        return f"{self.text} AS {f'({names})' if len(self.alias) > 1 else names}" if self.alias else self.text


def read_select_items(spark: SparkSource, text: str) -> tuple[SelectItem, ...]:
    """The entries of a select list; RefusedError says what cannot be read."""
    plain = plain_entries(text)
    if plain is not None:
        return tuple(_plain_item(text, entry) for entry in plain)
    return parsed_select_items(spark, text)


def parsed_select_items(spark: SparkSource, text: str) -> tuple[SelectItem, ...]:
    """The same, by Spark's own parser."""
    entries = list(list_entries(sql_tokens(text)))
    _entries(spark, text, len(entries))
    return tuple(_item(spark, _text(text, entry)) for entry in entries)


def _plain_item(text: str, entry: PlainEntry) -> SelectItem:
    """An entry whose meaning is plain, as Spark's tree would have it."""
    bare, value = text[entry.start : entry.end], entry.value
    if value is None:
        return SelectItem(bare, (), (), (), True, entry.star_of or None)
    alias = (entry.alias,) if entry.alias else ()
    name = value.argument if isinstance(value, PlainCall) else value
    columns = (SqlName(name.parts, name.start - entry.start, name.end - entry.start),) if name else ()
    if not isinstance(value, PlainCall):
        return SelectItem(bare, alias, columns, ())
    call = FunctionCall((bare.partition("(")[0].strip(),), 0, entry.end - entry.start)
    return SelectItem(bare, alias, columns, (call,))


def _entries(spark: SparkSource, text: str, count: int) -> Sequence[SyntaxTree]:
    """Spark's tree of each entry, once it is sure that the text is a list of so many and nothing else."""
    try:
        entries = spark_jvm(spark, text).parsed(text)
    except TextRefusedError as refused:
        raise CompileRefusedError(str(refused)) from None
    if not entries or len(entries) != count:
        raise CompileRefusedError(
            "is more than expressions: FROM, WHERE, DISTINCT and the like have no place here"
        )
    return entries


def _item(spark: SparkSource, text: str) -> SelectItem:
    tree = _entries(spark, text, 1)[0]
    kind, names = tree["kind"], tree.get("names", ())
    if kind == "UnresolvedStar":
        return SelectItem(text, (), (), (), True, ".".join(names) or None)
    if kind.startswith("UnresolvedStar"):
        raise CompileRefusedError("a * with EXCEPT or REPLACE cannot be compiled; name the columns")
    alias = tuple(names) if kind in {"Alias", "MultiAlias"} else ()
    bare = _text(text, without_alias(sql_tokens(text), len(alias))) if alias else text
    whole = _entries(spark, bare, 1)[0]
    nodes = list(_walk(whole))
    if any(node["kind"] in SUBQUERIES for node in nodes):
        raise CompileRefusedError("a subquery cannot be asked for each row; join a table instead")
    if any(node["kind"] == "WindowExpression" for node in nodes):
        raise CompileRefusedError("a window function has no place here; aggregate with a window instead")
    calls = (
        FunctionCall(tuple(node["names"]), *_range(node), node["distinct"])
        for node in nodes
        if node["kind"] in _CALLS
    )
    return SelectItem(bare, alias, tuple(sorted(_columns(whole, frozenset()), key=_start)), tuple(calls))


def _columns(tree: SyntaxTree, variables: frozenset[str]) -> Iterator[SqlName]:
    """The columns of a tree: within a lambda, words that are none of its variables."""
    kind, names = tree["kind"], tree.get("names", ())
    if kind == "LambdaFunction":
        yield from _columns(tree["children"][0], variables | {name.lower() for name in names})
        return
    if kind in {"UnresolvedAttribute", "UnresolvedNamedLambdaVariable"} and names[0].lower() not in variables:
        yield SqlName(tuple(names), *_range(tree))
    for child in tree["children"]:
        yield from _columns(child, variables)


def _walk(tree: SyntaxTree) -> Iterator[SyntaxTree]:
    """The nodes of a tree, outer ones first."""
    yield tree
    for child in tree["children"]:
        yield from _walk(child)


def call_arguments(text: str, call: FunctionCall) -> tuple[list[str], str]:
    """The arguments of a call in an entry, and the condition of its FILTER, if any.

    By the words of the text: of a tree such as `(a) LIKE b` Spark does not tell where its brackets begin.
    """
    text = text[call.start : call.end]
    arguments, *filters = within_brackets(sql_tokens(text))
    condition = filters[0][1:] if filters else ()  # behind WHERE
    return [_text(text, argument) for argument in list_entries(arguments)], _text(text, condition)


def _text(text: str, tokens: Sequence[SqlToken]) -> str:
    return text[tokens[0].start : tokens[-1].end] if tokens else ""


def _range(node: SyntaxTree) -> tuple[int, int]:
    return node["start"] - len(_LEAD), node["stop"] + 1 - len(_LEAD)


def _start(name: SqlName) -> int:
    return name.start
