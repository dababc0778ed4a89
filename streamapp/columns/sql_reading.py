"""The columns and functions that Spark SQL expressions name, and their places, as sqlglot reads them.

The reading is a second opinion: Spark's own parser decides. A text that sqlglot does not take, or that would
take it long, is not read at all, and nothing is said of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from streamapp.columns.spark_functions import FUNCTIONS, GENERATORS
from streamapp.spec.value_types.expressions import (
    SqlToken,
    list_entries,
    sql_tokens,
    with_depth,
    within_brackets,
)

_LEAD: Final = "SELECT "
MOST_CHARACTERS: Final = 10_000
MOST_EFFORT: Final = 20_000
"""In tokens. What stands in brackets behind a type's name is read twice: each such level doubles it."""
DEEPEST: Final = 50
"""Brackets in brackets; the parser is recursive."""

_OPEN: Final = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSE: Final = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
_AMONG_ARGUMENTS: Final = frozenset(
    (
        *("*", "=>", "<", ">", "all", "as", "both", "distinct", "for", "from", "in", "leading", "order"),
        *("placing", "trailing", "using", "where"),
    )
)
"""Words and signs among arguments where commas do not divide them, or where a * is several of them."""
_CLAUSES: Final = (
    "from_",
    "from",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "distinct",
    "joins",
    "laterals",
)


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column by its dotted name, and at which character of the text it stands, from 1."""

    parts: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True)
class CalledFunction:
    """A function that is called by a plain word; the name is in small letters."""

    name: str
    place: int
    distinct: bool = False
    arguments: int | None = None  # their number; None where words of the grammar stand among them


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """One entry of a select list."""

    tree: exp.Expression  # without its alias
    alias: tuple[str, ...]
    columns: tuple[ColumnName, ...]
    generator: bool  # whether it begins with a call of a generator
    star_of: str | None = None  # the side of `side.*`, empty for `*` alone

    @property
    def column(self) -> ColumnName | None:
        """The column, where the whole expression is one and nothing else."""
        return self.columns[0] if isinstance(self.tree, exp.Column) and self.star_of is None else None


@dataclass(frozen=True, slots=True)
class ReadList:
    """A text of one or several expressions."""

    entries: tuple[ReadEntry, ...]
    calls: tuple[CalledFunction, ...]
    has_query: bool
    has_window: bool
    has_clause: bool  # such as FROM, which makes it more than expressions


@dataclass(frozen=True, slots=True)
class TokenizedList:
    """A text of expressions that sqlglot can read in bounded time."""

    statement: str  # the text behind a lead
    tokens: Sequence[Token]  # of the statement
    words: Sequence[SqlToken]  # of the text
    effort: int  # about how many tokens are read, those that are read twice counted twice

    @property
    def calls(self) -> tuple[CalledFunction, ...]:
        """The functions that are called, which need no tree."""
        return tuple(_calls(self.tokens, self.words))

    def read(self) -> ReadList | None:
        """The text as sqlglot reads it; None where it does not."""
        try:
            statements = _dialect().parser().parse(list(self.tokens), self.statement)
        except Exception:  # a wrong number of arguments gives errors of any kind: `map(x)` an IndexError
            return None
        select = statements[0] if len(statements) == 1 else None
        if not isinstance(select, exp.Select):
            return None
        entries = list(list_entries(self.words))
        if len(entries) != len(select.expressions):
            return None
        return ReadList(
            tuple(_entry(tree, words) for tree, words in zip(select.expressions, entries, strict=True)),
            self.calls,
            has_query=any(node is not select for node in select.find_all(exp.Query)),
            has_window=select.find(exp.Window) is not None,
            has_clause=any(select.args.get(clause) for clause in _CLAUSES),
        )


def tokenized(text: str) -> TokenizedList | None:
    """The tokens of a text; None where sqlglot has others than Spark, or would read them long."""
    if len(text) > MOST_CHARACTERS:
        return None
    statement, words = _LEAD + text, sql_tokens(text)
    try:
        tokens = _dialect().tokenize(statement)
    except SqlglotError:
        return None
    if not {token.start - len(_LEAD) for token in tokens[1:]} <= {word.start for word in words}:
        return None
    effort = _effort(tokens[1:])
    return None if effort > MOST_EFFORT else TokenizedList(statement, tokens, words, effort)


def _dialect() -> Dialect:
    return Dialect.get_or_raise("spark")


def _effort(tokens: Sequence[Token]) -> int:
    deepest_types, depth, types = 0, 0, list[bool]()
    for before, token in zip((None, *tokens), tokens, strict=False):
        if token.token_type in _OPEN:
            types.append(before is not None and before.token_type is not TokenType.VAR)
            depth = max(depth, len(types))
            deepest_types = max(deepest_types, sum(types))
        elif token.token_type in _CLOSE and types:
            types.pop()
    return len(tokens) << deepest_types if depth <= DEEPEST and deepest_types < 20 else MOST_EFFORT + 1


def _entry(tree: exp.Expression, words: Sequence[SqlToken]) -> ReadEntry:
    alias: tuple[str, ...] = ()
    if isinstance(tree, exp.Alias):
        alias, tree = (tree.alias,), tree.this
    elif isinstance(tree, exp.Aliases):
        alias, tree = tuple(name.name for name in tree.aliases), tree.this
    names = (_column(node) for node in tree.find_all(exp.Column) if not isinstance(node.this, exp.Star))
    columns = tuple(sorted(names, key=lambda name: name.place))
    star_of = None
    if isinstance(tree, exp.Star):
        star_of = ""
    elif isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star):
        star_of = ".".join(part.name for part in tree.parts[:-1])
    is_call = len(words) > 1 and words[1].text == "("
    is_generator = is_call and words[0].text.strip("`").lower() in GENERATORS
    return ReadEntry(tree, alias, columns, is_generator, star_of)


def _column(node: exp.Column) -> ColumnName:
    parts = node.parts
    return ColumnName(tuple(part.name for part in parts), parts[0].meta.get("start", 0) - len(_LEAD) + 1)


def _calls(tokens: Sequence[Token], words: Sequence[SqlToken]) -> Iterator[CalledFunction]:
    """The calls: plain words before a bracket, and functions there that have a token of their own."""
    opened = {len(_LEAD) + word.start: index for index, word in enumerate(words)}
    for index, token in enumerate(tokens[:-1]):
        before, bracket = tokens[index - 1] if index else None, tokens[index + 1]
        if bracket is None or bracket.token_type is not TokenType.L_PAREN:
            continue
        name = token.text.lower()
        is_method = before is not None and before.token_type is TokenType.DOT
        if not is_method and (token.token_type is TokenType.VAR or name in FUNCTIONS):
            distinct = index + 2 < len(tokens) and tokens[index + 2].token_type is TokenType.DISTINCT
            arguments = _argument_count(words[opened.get(bracket.start, len(words)) :])
            yield CalledFunction(name, token.start - len(_LEAD) + 1, distinct, arguments)


def _argument_count(words: Sequence[SqlToken]) -> int | None:
    """The number of entries in the first brackets; None where they are more than entries."""
    inside = next(within_brackets(words), None)
    if inside is None:
        return None
    is_more = any(not depth and word.text.lower() in _AMONG_ARGUMENTS for word, depth in with_depth(inside))
    return None if is_more else len(list(list_entries(inside)))
