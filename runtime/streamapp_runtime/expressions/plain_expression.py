"""Expressions whose meaning is plain without Spark: columns, running totals of columns, simple conditions.

What is read here is what Spark's parser and analyser make of the same text, to the letter; anything else is
left to them. So most apps are compiled without a word to the JVM, and a test of such an app needs none.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from streamapp.columns.column_scope import ColumnScope
from streamapp.columns.spark_functions import WORDS_FOR_NOW
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.predicate import (
    And,
    ColumnValue,
    Comparison,
    Constant,
    InList,
    IsNull,
    Not,
    Or,
    Predicate,
    like_test,
)

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)|`(?P<quoted>[^`]+)`|(?P<number>[0-9]+)(?![A-Za-z0-9_.])"
    r"|'(?P<text>[^'\\]*)'(?!\s*['\"])|(?P<sign><=>|<=|>=|<>|!=|==|[=<>(),.*]))"
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
_WHOLE: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_KINDS: Final[Mapping[str, type]] = {"STRING": str, "BOOLEAN": bool} | dict.fromkeys(_WHOLE, int)
_SIGNS: Final = {"=": "=", "==": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MOST_INT: Final = 2**31 - 1
_SUMS: Final = dict.fromkeys(_WHOLE, "BIGINT") | dict.fromkeys(("FLOAT", "DOUBLE"), "DOUBLE")
_ORDERED: Final = (*_WHOLE, "STRING", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "FLOAT", "DOUBLE", "BOOLEAN")


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
    tokens = _tokens(text)
    if not tokens:
        return None
    reader = _Reader(tokens)
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


def plain_condition(text: str, scope: ColumnScope) -> Predicate | None:
    """A condition over a scope's positions as Spark's analyser has it; None where it may be another."""
    tokens = _tokens(text)
    if not tokens:
        return None
    reader = _Reader(tokens)
    condition = _Conditions(reader, scope).condition()
    return condition if reader.done else None


def names_in(text: str) -> tuple[PlainName, ...]:
    """The columns of a plain condition, in the order in which they stand."""
    reader, names = _Reader(_tokens(text) or ()), list[PlainName]()
    while not reader.done:
        name = reader.name()
        if name is not None:
            names.append(name)
        else:
            reader.place += 1
    return tuple(names)


def column_of(name: PlainName, scope: ColumnScope) -> Column | None:
    """The column that a name is, spelled as it is declared; None where it is none, or a field of one."""
    match = scope.find(name.parts)
    if match is None or match[1]:
        return None
    column = scope.columns[match[0]]
    return column if column.name == name.parts[-1] else None


def _tokens(text: str) -> tuple[PlainToken, ...] | None:
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
            return _SUMS.get(column.type)
        case _:
            return column.type if column.type in _ORDERED else None


def _balanced(parts: Sequence[Predicate], combine: type[And | Or]) -> Predicate:
    """What one word joins, as the even tree that Spark's parser makes of it."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) - 1) // 2 + 1
    return combine(_balanced(parts[:half], combine), _balanced(parts[half:], combine))


def _name_of_total(call: PlainCall, text: str) -> str:
    """The name that Spark gives a total without an alias; empty where it writes it in another way."""
    name = call.argument.parts[0] if call.argument and len(call.argument.parts) == 1 else ""
    return text if name and text == f"{call.function}({name})" else ""


class _Reader:
    """A cursor over tokens."""

    def __init__(self, tokens: Sequence[PlainToken]) -> None:
        self.tokens, self.place = tokens, 0

    @property
    def done(self) -> bool:
        return self.place == len(self.tokens)

    def peek(self, ahead: int = 0) -> PlainToken:
        at = self.place + ahead
        return self.tokens[at] if at < len(self.tokens) else PlainToken("", "", 0, 0)

    def take(self, sign: str) -> bool:
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
        alias = self._alias()
        return None if alias is None else PlainEntry(value, alias, None, start, value.end)

    def name(self) -> PlainName | None:
        """A dotted name; None, and nothing taken, where none stands here."""
        if not self._is_name(0) or self.peek(1).text == "(":
            return None
        first, parts = self.peek(), [self.peek().text]
        self.place += 1
        while self.peek().kind == "sign" and self.peek().text == "." and self._is_name(1):
            parts.append(self.peek(1).text)
            self.place += 2
        return PlainName(tuple(parts), first.start, self.peek(-1).end)

    def _is_name(self, ahead: int) -> bool:
        token = self.peek(ahead)
        return token.kind == "quoted" or (token.kind == "name" and token.text.lower() not in _RESERVED)

    def _alias(self) -> str | None:
        """The name behind AS; empty where there is none, None where something else follows."""
        if self.done or self.peek().text == ",":
            return ""
        if not self.word("as") or not self._is_name(0):
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


@dataclass(frozen=True, slots=True)
class _Conditions:
    """Reads a condition; each method gives None where Spark might read it in another way."""

    reader: _Reader
    scope: ColumnScope

    def condition(self) -> Predicate | None:
        return self._chain("or", Or, lambda: self._chain("and", And, self._negated))

    def _chain(
        self, word: str, combine: type[And | Or], read: Callable[[], Predicate | None]
    ) -> Predicate | None:
        parts = [read()]
        while parts[-1] is not None and self.reader.word(word):
            parts.append(read())
        return _balanced([part for part in parts if part is not None], combine) if parts[-1] else None

    def _negated(self) -> Predicate | None:
        if self.reader.word("not"):
            of = self._negated()
            return None if of is None else Not(of)
        if self.reader.take("("):
            inside = self.condition()
            return inside if inside is not None and self.reader.take(")") else None
        return self._test()

    def _test(self) -> Predicate | None:
        reader = self.reader
        left = self._operand()
        if left is None:
            return None
        value, kind = left
        if reader.word("is"):
            negated, is_null = reader.word("not"), reader.word("null")
            test: Predicate | None = IsNull(value) if is_null else None
        else:
            before, negated = reader.place, reader.word("not")
            test = self._like_or_in(value, kind)
            if reader.place == before:
                return self._comparison(value, kind)
        return Not(test) if negated and test is not None else test

    def _like_or_in(self, of: Predicate, kind: type) -> Predicate | None:
        if self.reader.word("like"):
            return self._like(of, kind)
        return self._among(of, kind) if self.reader.word("in") else None

    def _comparison(self, left: Predicate, kind: type) -> Predicate | None:
        sign = self.reader.peek().text
        if sign not in {*_SIGNS, "<>", "!="}:
            return left if kind is bool else None
        self.reader.place += 1
        right = self._operand()
        if right is None or right[1] is not kind:
            return None
        if sign in {"<>", "!="}:
            return Not(Comparison("=", left, right[0]))
        return Comparison(_SIGNS[sign], left, right[0])

    def _like(self, of: Predicate, kind: type) -> Predicate | None:
        token = self.reader.peek()
        self.reader.place += 1
        return like_test(of, token.text, "\\") if kind is str and token.kind == "text" else None

    def _among(self, of: Predicate, kind: type) -> Predicate | None:
        values = []
        if not self.reader.take("("):
            return None
        while (constant := self._constant()) is not None and constant[1] is kind:
            values.append(constant[0].value)
            if self.reader.take(")"):
                return InList(of, tuple(values))
            if not self.reader.take(","):
                return None
        return None

    def _operand(self) -> tuple[Predicate, type] | None:
        constant = self._constant()
        if constant is not None:
            return constant
        name = self.reader.name()
        is_word = name is not None and len(name.parts) == 1  # a column of a side is a field to Spark
        column = column_of(name, self.scope) if name is not None and is_word else None
        match = None if name is None else self.scope.find(name.parts)
        kind = None if column is None else _KINDS.get(column.type)
        return None if kind is None or match is None else (ColumnValue(match[0]), kind)

    def _constant(self) -> tuple[Constant, type] | None:
        token = self.reader.peek()
        if token.kind == "text":
            self.reader.place += 1
            return Constant(token.text), str
        if token.kind == "number" and int(token.text) <= _MOST_INT:
            self.reader.place += 1
            return Constant(int(token.text)), int
        for word, truth in (("true", True), ("false", False)):
            if self.reader.word(word):
                return Constant(truth), bool
        return None
