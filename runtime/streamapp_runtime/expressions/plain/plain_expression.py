"""Lists whose meaning is plain without Spark: columns, stars, running totals of columns.

What is read here is what Spark's parser and analyser make of the same text, to the letter; anything else is
left to them. So most apps are compiled without a word to the JVM, and a test of such an app needs none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from streamapp.columns.column_scope import ColumnScope
from streamapp.columns.spark_functions import WORDS_FOR_NOW
from streamapp.spec.value_types.column_list import Column, digits_of_sum
from streamapp_runtime.expressions.row_value import WHOLE_TYPES

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)|`(?P<quoted>[^`]+)`"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?)(?![A-Za-z0-9_.])|'(?P<text>[^'\\]*)'(?!\s*['\"])"
    r"|(?P<sign><=>|::|<=|>=|<>|!=|==|\|\||-(?!-)|/(?!\*)|[=<>(),.*+%\[\]]))"
)
_RESERVED: Final = WORDS_FOR_NOW | frozenset(
    (
        *("all", "and", "anti", "any", "as", "between", "both", "case", "cast", "check", "collate"),
        *("column", "constraint", "create", "cross", "current_time", "current_user", "distinct", "div"),
        *("else", "end", "escape", "except", "exists", "false", "fetch", "filter", "for", "foreign"),
        *("from", "full", "grant", "group", "having", "ilike", "in", "inner", "intersect", "interval"),
        *("into", "is", "join", "lateral", "leading", "left", "like", "minus", "natural", "not"),
        *("null", "offset", "on", "only", "or", "order", "outer", "over", "overlaps", "primary"),
        *("references", "regexp", "right", "rlike", "select", "semi", "session_user", "some", "struct"),
        *("table", "then", "to", "trailing", "true", "union", "unique", "unknown", "using", "when"),
        *("where", "window", "with", "within"),
    )
)
"""Words that are, or may be, more than the name of a column."""
_SIDES: Final = ("left", "right")
"""Words that are the sides of a join where a column follows them."""
DECIMAL_TYPE: Final = re.compile(r"DECIMAL\(([0-9]+),\s*([0-9]+)\)")
"""A type by its digits, and how many of them are behind the point."""
_SUMS: Final = dict.fromkeys(WHOLE_TYPES, "BIGINT") | dict.fromkeys(("FLOAT", "DOUBLE"), "DOUBLE")
_ORDERED: Final = (*WHOLE_TYPES, "STRING", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "FLOAT", "DOUBLE", "BOOLEAN")


@dataclass(frozen=True, slots=True)
class PlainToken:
    """A word, number, text or sign, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PlainName:
    """A column by its dotted name, and where it stands in the whole text."""

    parts: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PlainCall:
    """A running total of a column, or of all rows."""

    function: str
    argument: PlainName | None  # None for a star
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PlainEntry:
    """One entry of a select list: a column, a star, or a call."""

    value: PlainName | PlainCall | None  # None for a star
    alias: str
    star_of: str | None
    start: int  # of the value
    end: int


def plain_entries(text: str) -> tuple[PlainEntry, ...] | None:
    """The entries of a list of columns, stars and running totals; None where it has anything else."""
    tokens = plain_tokens(text)
    if not tokens:
        return None
    reader = PlainReader(tokens)
    entries: list[PlainEntry] = []
    while (entry := reader.entry()) is not None:
        entries.append(entry)
        if reader.done:
            return tuple(entries)
        if not reader.take(","):
            return None
    return None


def plain_type(text: str, scope: ColumnScope) -> Column | None:
    """Name and type of an entry that is a column or a running total; None where only Spark knows."""
    entries = plain_entries(text) or ()
    value = entries[0].value if len(entries) == 1 else None
    if value is None:
        return None
    if isinstance(value, PlainName):
        column = column_of(value, scope)
        return column and Column(entries[0].alias or column.name, column.type)
    kind, name = _type_of_total(value, scope), entries[0].alias or _name_of_total(value, text)
    return Column(name, kind) if kind and name else None


def column_of(name: PlainName, scope: ColumnScope) -> Column | None:
    """The column that a name is, spelled as it is declared; None where it is none, or a field of one."""
    match = column_with_fields(name, scope)
    return None if match is None or match[1] else scope.columns[match[0]]


def column_with_fields(name: PlainName, scope: ColumnScope) -> tuple[int, tuple[str, ...]] | None:
    """The column that a name begins with, spelled as it is declared, and the fields that follow it."""
    match = scope.find(name.parts)
    if match is None:
        return None
    position, fields = match
    is_as_declared = scope.columns[position].name == name.parts[len(name.parts) - len(fields) - 1]
    return match if is_as_declared else None


def plain_tokens(text: str) -> tuple[PlainToken, ...] | None:
    """The tokens of a text; None where it has others than lists and values are read of."""
    tokens: list[PlainToken] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            return None
        kind = match.lastgroup or ""
        quotes = 1 if kind in {"quoted", "text"} else 0
        tokens.append(PlainToken(kind, match[kind], match.start(kind) - quotes, match.end(kind) + quotes))
        place = match.end()
    return tuple(tokens)


def _type_of_total(call: PlainCall, scope: ColumnScope) -> str | None:
    """The type of a running total, where that follows from its column's."""
    if call.argument is None:
        return "BIGINT"
    column = column_of(call.argument, scope)
    if column is None:
        return None
    match call.function:
        case "count":
            return "BIGINT"
        case "sum":
            return _SUMS.get(column.type) or _decimal_sum(column.type)
        case _:
            ordered = column.type in _ORDERED or DECIMAL_TYPE.fullmatch(column.type)
            return column.type if ordered else None


def _decimal_sum(kind: str) -> str | None:
    """The type in which Spark sums a DECIMAL; None of other types."""
    if (match := DECIMAL_TYPE.fullmatch(kind)) is None:
        return None
    digits, scale = map(int, match.groups())
    return f"DECIMAL({digits_of_sum(digits)},{scale})"


def _name_of_total(call: PlainCall, text: str) -> str:
    """The name that Spark gives a total without an alias; empty where it writes it in another way."""
    name = call.argument.parts[0] if call.argument and len(call.argument.parts) == 1 else ""
    return text if name and text == f"{call.function}({name})" else ""


class PlainReader:
    """A cursor over the tokens of a text."""

    def __init__(self, tokens: Sequence[PlainToken]) -> None:
        self.tokens, self.place = tokens, 0

    @property
    def done(self) -> bool:
        """True if no token is left."""
        return self.place == len(self.tokens)

    def peek(self, ahead: int = 0) -> PlainToken:
        """The next token, or one behind it; one of no kind at the end."""
        at = self.place + ahead
        return self.tokens[at] if at < len(self.tokens) else PlainToken("", "", 0, 0)

    def take(self, sign: str) -> bool:
        """Take a sign, if it comes next."""
        token = self.peek()
        taken = token.kind == "sign" and token.text == sign
        self.place += taken
        return taken

    def word(self, *words: str) -> bool:
        """Take words of the language, if these come next."""
        taken = all(
            (token := self.peek(ahead)).kind == "name" and token.text.lower() == word
            for ahead, word in enumerate(words)
        )
        self.place += len(words) * taken
        return taken

    def entry(self) -> PlainEntry | None:
        """The next entry of a list; None where it is of another kind."""
        start = self.peek().start
        if self.take("*"):
            return PlainEntry(None, "", "", start, start + 1)
        value = self._call() or self.name()
        if value is None:
            return None
        if isinstance(value, PlainName) and self.peek().text == "." and self.peek(1).text == "*":
            self.place += 2
            end = self.peek(-1).end
            return PlainEntry(None, "", ".".join(value.parts), start, end) if len(value.parts) == 1 else None
        alias = self.alias()
        return None if alias is None else PlainEntry(value, alias, None, start, value.end)

    def name(self) -> PlainName | None:
        """A dotted name; None, and nothing taken, where none stands here."""
        is_side = self.peek().text.lower() in _SIDES and self.peek(1).text == "." and self.is_name(2)
        if not (is_side or self.is_name(0)) or self.peek(1).text == "(":
            return None
        first, parts = self.peek(), [self.peek().text]
        self.place += 1
        while self.peek().kind == "sign" and self.peek().text == "." and self.is_name(1):
            parts.append(self.peek(1).text)
            self.place += 2
        return PlainName(tuple(parts), first.start, self.peek(-1).end)

    def is_name(self, ahead: int) -> bool:
        """True if a token can be the name of a column."""
        token = self.peek(ahead)
        return token.kind == "quoted" or (token.kind == "name" and token.text.lower() not in _RESERVED)

    def alias(self) -> str | None:
        """The name behind AS; empty where there is none, None where something else follows."""
        if self.done or self.peek().text == ",":
            return ""
        if not self.word("as") or not self.is_name(0):
            return None
        self.place += 1
        return self.peek(-1).text if self.done or self.peek().text == "," else None

    def _call(self) -> PlainCall | None:
        first = self.peek()
        function = first.text.lower() if first.kind == "name" else ""
        if function not in {"count", "sum", "min", "max"} or self.peek(1).text != "(":
            return None
        before = self.place
        self.place += 2
        is_star = function == "count" and self.take("*")
        argument = None if is_star else self.name()
        if (is_star or argument is not None) and self.take(")"):
            return PlainCall(function, argument, first.start, self.peek(-1).end)
        self.place = before
        return None
