"""Spark's own reading of an expression: which words in it are columns, functions, aliases, and where.

The parser that will run an expression is the one that says what its words mean: struct fields, lambda
variables, units and type names are never mistaken for columns. It is reached through the session's JVM.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from sqlglot import tokenize
from sqlglot.errors import TokenError

from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp_runtime.expressions.plain.plain_expression import PlainCall, PlainEntry, plain_entries
from streamapp_runtime.expressions.spark_messages import spark_message
from streamapp_runtime.expressions.spark_source import SparkSource, spark_for
from streamapp_runtime.expressions.sql_types import quoted

SUBQUERIES = frozenset({"ScalarSubquery", "ListQuery", "InSubquery", "Exists", "LateralSubquery"})
_LEAD = "SELECT "
_OPEN = frozenset({"L_PAREN", "L_BRACKET", "L_BRACE"})
_CLOSE = frozenset({"R_PAREN", "R_BRACKET", "R_BRACE"})


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


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    end: int


def read_select_items(spark: SparkSource, text: str) -> tuple[SelectItem, ...]:
    """The entries of a select list; RefusedError says what cannot be read."""
    plain = plain_entries(text)
    if plain is not None:
        return tuple(_plain_item(text, entry) for entry in plain)
    return parsed_select_items(spark, text)


def parsed_select_items(spark: SparkSource, text: str) -> tuple[SelectItem, ...]:
    """The same, by Spark's own parser."""
    ranges = list(_split(text))
    _entries(spark, text, len(ranges))
    return tuple(_item(spark, text[start:end]) for start, end in ranges)


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


def _split(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of the entries, comments around them left out."""
    depth, inside = 0, list[_Token]()
    for token in _tokens(text):
        depth += (token.kind in _OPEN) - (token.kind in _CLOSE)
        if token.kind == "COMMA" and not depth and inside:
            yield inside[0].start, inside[-1].end
            inside = []
        else:
            inside.append(token)
    if inside:
        yield inside[0].start, inside[-1].end


def _tokens(text: str) -> list[_Token]:
    try:
        return [_Token(t.token_type.name, t.start, t.end + 1) for t in tokenize(text, dialect="spark")]
    except TokenError as error:
        raise CompileRefusedError(f"cannot be read: {str(error).splitlines()[0]}") from None


def _entries(spark: SparkSource, text: str, count: int) -> list[Any]:
    """Spark's tree of each entry, once it is sure that the text is a list of so many and nothing else."""
    try:
        session: Any = spark_for(spark, text)
        plan = session._jsparkSession.sessionState().sqlParser().parsePlan(_LEAD + text)  # noqa: SLF001
    except PySparkException as error:
        raise CompileRefusedError(spark_message(error)) from None
    is_list = plan.nodeName() == "Project" and plan.children().apply(0).nodeName() == "OneRowRelation"
    entries = list(_elements(plan.projectList())) if is_list else []
    if len(entries) != count or not count:
        raise CompileRefusedError(
            "is more than expressions: FROM, WHERE, DISTINCT and the like have no place here"
        )
    return entries


def _item(spark: SparkSource, text: str) -> SelectItem:
    tree = _entries(spark, text, 1)[0]
    kind = tree.nodeName()
    if kind == "UnresolvedStar":
        target = tree.target()
        return SelectItem(
            text, (), (), (), True, ".".join(_elements(target.get())) if target.isDefined() else None
        )
    if kind.startswith("UnresolvedStar"):
        raise CompileRefusedError("a * with EXCEPT or REPLACE cannot be compiled; name the columns")
    alias = _alias(tree, kind)
    bare = text[: _end_of_expression(text, len(alias))] if alias else text
    whole = _entries(spark, bare, 1)[0]
    nodes = list(_walk(whole))
    if any(node.nodeName() in SUBQUERIES for node in nodes):
        raise CompileRefusedError("a subquery cannot be asked for each row; join a table instead")
    if any(node.nodeName() == "WindowExpression" for node in nodes):
        raise CompileRefusedError("a window function has no place here; aggregate with a window instead")
    return SelectItem(
        bare,
        alias,
        tuple(sorted(_columns(whole, frozenset()), key=_start)),
        tuple(call for node in nodes for call in _calls(node)),
    )


def _alias(tree: Any, kind: str) -> tuple[str, ...]:
    if kind == "Alias":
        return (tree.name(),)
    return tuple(_elements(tree.names())) if kind == "MultiAlias" else ()


def _end_of_expression(text: str, aliases: int) -> int:
    """The end of the expression, before `AS name`, `name` or `AS (name, name)`."""
    tokens = _tokens(text)
    last = len(tokens) - 1
    if tokens[last].kind == "R_PAREN":
        last -= 2 * aliases
    if tokens[last - 1].kind == "ALIAS":
        last -= 1
    return tokens[last - 1].end


def _calls(node: Any) -> Iterator[FunctionCall]:
    kind = node.nodeName()
    if kind == "UnresolvedFunction":
        yield FunctionCall(tuple(_elements(node.nameParts())), *_range(node), node.isDistinct())
    elif kind == "AggregateExpression":  # some, such as FIRST, are words of the grammar
        yield FunctionCall((node.aggregateFunction().prettyName(),), *_range(node), node.isDistinct())


def _columns(tree: Any, variables: frozenset[str]) -> Iterator[SqlName]:
    """The columns of a tree: within a lambda, words that are none of its variables."""
    kind = tree.nodeName()
    if kind == "LambdaFunction":
        own_variables = {
            "".join(_elements(argument.nameParts())).lower() for argument in _elements(tree.arguments())
        }
        yield from _columns(tree.function(), variables | own_variables)
        return
    if kind in {"UnresolvedAttribute", "UnresolvedNamedLambdaVariable"}:
        parts = tuple(_elements(tree.nameParts()))
        if parts[0].lower() not in variables:
            yield SqlName(parts, *_range(tree))
    for child in _elements(tree.children()):
        yield from _columns(child, variables)


def _walk(tree: Any) -> Iterator[Any]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(list(_elements(node.children())))


def argument_ranges(
    text: str, call: FunctionCall
) -> tuple[tuple[tuple[int, int], ...], tuple[int, int] | None]:
    """The ranges of a call's arguments, and that of the condition of its FILTER.

    By the words of the text: of a tree such as `(a) LIKE b` Spark does not tell where its brackets begin.
    """
    parts: list[list[tuple[int, int]]] = []
    depth, opened = 0, 0
    for token in (token for token in _tokens(text) if call.start <= token.start < call.end):
        if token.kind in _CLOSE:
            depth -= 1
            if not depth and opened < token.start:
                parts[-1].append((opened, token.start))
        elif token.kind in _OPEN:
            depth += 1
            if depth == 1:
                parts.append([])
                opened = token.end
        elif token.kind == "COMMA" and depth == 1:
            parts[-1].append((opened, token.start))
            opened = token.end
        elif token.kind == "WHERE" and depth == 1 and len(parts) == 2:
            opened = token.end
    return tuple(parts[0]), parts[1][0] if len(parts) > 1 else None


def _range(node: Any) -> tuple[int, int]:
    origin = node.origin()
    return origin.startIndex().get() - len(_LEAD), origin.stopIndex().get() + 1 - len(_LEAD)


def _start(name: SqlName) -> int:
    return name.start


def _elements(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(index) for index in range(sequence.size()))
