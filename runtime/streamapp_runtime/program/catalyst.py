"""Spark's own reading of an expression: which words in it are columns, functions, aliases, and where.

The parser that will run an expression is the one that says what its words mean: struct fields, lambda
variables, units and type names are never mistaken for columns. It is reached through the session's JVM.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from sqlglot import tokenize
from sqlglot.errors import TokenError
from sqlglot.tokens import Token, TokenType

from streamapp_runtime.program.messages import told
from streamapp_runtime.program.refusal import RefusedError

SUBQUERIES = frozenset({"ScalarSubquery", "ListQuery", "InSubquery", "Exists", "LateralSubquery"})
_LEAD = "SELECT "
_OPEN = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSE = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})


@dataclass(frozen=True, slots=True)
class Word:
    """A column or a function by its dotted name, and where it stands in the item's text."""

    parts: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Call(Word):
    """A function that is called, and whether it is called with DISTINCT."""

    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a select list."""

    text: str  # without its alias
    alias: tuple[str, ...]
    columns: tuple[Word, ...]
    calls: tuple[Call, ...]  # outer ones before those inside them
    star: bool = False
    star_of: str | None = None

    @property
    def whole(self) -> str:
        """The entry with its alias."""
        names = ", ".join("`" + name.replace("`", "``") + "`" for name in self.alias)
        return f"{self.text} AS {f'({names})' if len(self.alias) > 1 else names}" if self.alias else self.text


def read_items(spark: SparkSession, text: str) -> tuple[Item, ...]:
    """The entries of a select list; RefusedError says what cannot be read."""
    ranges = list(_split(text))
    _entries(spark, text, len(ranges))
    return tuple(_item(spark, text[start:end]) for start, end in ranges)


def _split(text: str) -> Iterator[tuple[int, int]]:
    """Where the entries stand, comments around them left out."""
    depth, inside = 0, list[Token]()
    for token in _tokens(text):
        depth += (token.token_type in _OPEN) - (token.token_type in _CLOSE)
        if token.token_type is TokenType.COMMA and not depth and inside:
            yield inside[0].start, inside[-1].end + 1
            inside = []
        else:
            inside.append(token)
    if inside:
        yield inside[0].start, inside[-1].end + 1


def _tokens(text: str) -> list[Token]:
    try:
        return tokenize(text, dialect="spark")
    except TokenError as error:
        raise RefusedError(f"cannot be read: {str(error).splitlines()[0]}") from None


def _entries(spark: SparkSession, text: str, wanted: int) -> list[Any]:
    """Spark's tree of each entry, once it is sure that the text is a list of so many and nothing else."""
    try:
        plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(_LEAD + text)  # noqa: SLF001
    except PySparkException as error:
        raise RefusedError(told(error)) from None
    is_list = plan.nodeName() == "Project" and plan.children().apply(0).nodeName() == "OneRowRelation"
    entries = list(_each(plan.projectList())) if is_list else []
    if len(entries) != wanted or not wanted:
        raise RefusedError("is more than expressions: FROM, WHERE, DISTINCT and the like have no place here")
    return entries


def _item(spark: SparkSession, text: str) -> Item:
    tree = _entries(spark, text, 1)[0]
    kind = tree.nodeName()
    if kind == "UnresolvedStar":
        target = tree.target()
        return Item(text, (), (), (), True, ".".join(_each(target.get())) if target.isDefined() else None)
    if kind.startswith("UnresolvedStar"):
        raise RefusedError("a * with EXCEPT or REPLACE cannot be compiled; name the columns")
    alias = _alias(tree, kind)
    bare = text[: _end_of_expression(text, len(alias))] if alias else text
    found = list(_walk(_entries(spark, bare, 1)[0]))
    if any(node.nodeName() in SUBQUERIES for node in found):
        raise RefusedError("a subquery cannot be asked for each row; join a table instead")
    if any(node.nodeName() == "WindowExpression" for node in found):
        raise RefusedError("a window function has no place here; aggregate with a window instead")
    words = [n for n in found if n.nodeName() == "UnresolvedAttribute"]
    calls = [n for n in found if n.nodeName() == "UnresolvedFunction"]
    return Item(
        bare,
        alias,
        tuple(sorted((Word(tuple(_each(n.nameParts())), *_range(n)) for n in words), key=_start)),
        tuple(Call(tuple(_each(n.nameParts())), *_range(n), n.isDistinct()) for n in calls),
    )


def _alias(tree: Any, kind: str) -> tuple[str, ...]:
    if kind == "Alias":
        return (tree.name(),)
    return tuple(_each(tree.names())) if kind == "MultiAlias" else ()


def _end_of_expression(text: str, aliases: int) -> int:
    """Where the expression ends, before `AS name`, `name` or `AS (name, name)`."""
    tokens = _tokens(text)
    last = len(tokens) - 1
    if tokens[last].token_type is TokenType.R_PAREN:
        last -= 2 * aliases
    if tokens[last - 1].token_type is TokenType.ALIAS:
        last -= 1
    return tokens[last - 1].end + 1


def _walk(tree: Any) -> Iterator[Any]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(list(_each(node.children())))


def brackets(text: str, call: Call) -> tuple[tuple[tuple[int, int], ...], tuple[int, int] | None]:
    """Where a call's arguments stand, and where the condition of its FILTER does.

    By the words of the text: of a tree such as `(a) LIKE b` Spark does not tell where its brackets begin.
    """
    parts: list[list[tuple[int, int]]] = []
    depth, opened = 0, 0
    for token in (token for token in _tokens(text) if call.start <= token.start < call.end):
        if token.token_type in _CLOSE:
            depth -= 1
            if not depth and opened < token.start:
                parts[-1].append((opened, token.start))
        elif token.token_type in _OPEN:
            depth += 1
            if depth == 1:
                parts.append([])
                opened = token.end + 1
        elif token.token_type is TokenType.COMMA and depth == 1:
            parts[-1].append((opened, token.start))
            opened = token.end + 1
        elif token.token_type is TokenType.WHERE and depth == 1 and len(parts) == 2:
            opened = token.end + 1
    return tuple(parts[0]), parts[1][0] if len(parts) > 1 else None


def _range(node: Any) -> tuple[int, int]:
    origin = node.origin()
    return origin.startIndex().get() - len(_LEAD), origin.stopIndex().get() + 1 - len(_LEAD)


def _start(word: Word) -> int:
    return word.start


def _each(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(index) for index in range(sequence.size()))
