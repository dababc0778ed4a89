"""Expressions that are read, typed and computed without Spark, where nothing in them is Spark's alone.

What is read here has the type that Spark's analyser gives it, and a worker computes what Spark would. Errors
come on the rows on which they come in Spark. Its optimizer drops, reorders and folds parts of an expression,
and with them their errors: where it may do that, and a part can fail, the expression is left to Spark.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from streamapp.columns.column_scope import ColumnScope
from streamapp_runtime.expressions.plain_expression import PlainName, PlainReader, column_of, plain_tokens
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    And,
    Arithmetic,
    Case,
    Cast,
    Coalesce,
    ColumnValue,
    Comparison,
    Concat,
    Constant,
    ConstantValue,
    InList,
    IsNull,
    Negation,
    Not,
    NullValue,
    Or,
    RowValue,
    Substring,
    TextFunction,
    TextTest,
    like_test,
    may_be_null_always,
    may_fail,
    narrows,
    reads_columns,
)

_TYPES: Final = (*WHOLE_TYPES, "DOUBLE", "STRING", "BOOLEAN")
_CAST_TYPES: Final[Mapping[str, str]] = {name: name for name in _TYPES} | {
    "INTEGER": "INT",
    "LONG": "BIGINT",
}
_DECIMAL: Final = "DECIMAL"
"""The type of a literal such as 1.5, of which something has to make a DOUBLE."""
_NULL: Final = "VOID"
_KINDS: Final[Mapping[str, type]] = {"STRING": str, "BOOLEAN": bool} | dict.fromkeys(WHOLE_TYPES, int)
"""Of what can be compared, what is compared as one."""
_SIGNS: Final = {"=": "=", "==": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<>": "", "!=": ""}
_TESTS: Final = {"startswith": "starts", "endswith": "ends", "contains": "contains"}
_MOST_INT, _MOST_BIGINT = 2**31 - 1, 2**63 - 1
_MOST_DIGITS: Final = 15
"""A decimal of so many is the same number as a double."""


_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class PlainValue:
    """What a text computes, the type of it, and where columns stand in the text."""

    value: RowValue
    type: str
    names: tuple[PlainName, ...] = ()


@dataclass(frozen=True, slots=True)
class PlainOutput:
    """One entry of a select list: the name that it gives, and what it computes where."""

    name: str
    computed: PlainValue
    start: int
    end: int


_NOTHING: Final = PlainValue(NullValue(_NULL), _NULL)


class _LeftToSparkError(Exception):
    """Something that Spark alone can judge or compute."""


def plain_value(text: str, scope: ColumnScope) -> PlainValue | None:
    """What an expression over a scope's positions computes; None where only Spark can say."""
    tokens = plain_tokens(text)
    if not tokens:
        return None
    reader = PlainReader(tokens)
    values = _Values(reader, scope)
    try:
        typed = values.value()
    except _LeftToSparkError:
        return None
    is_whole = reader.done and typed.type in _TYPES
    return PlainValue(typed.value, typed.type, tuple(values.names)) if is_whole else None


def plain_condition(text: str, scope: ColumnScope) -> RowValue | None:
    """A condition over a scope's positions; None where only Spark can say what it means."""
    plain = plain_value(text, scope)
    return plain.value if plain is not None and plain.type == "BOOLEAN" else None


def plain_output(reader: PlainReader, scope: ColumnScope) -> PlainOutput | None:
    """The next entry of a select list, if it is an expression with a name behind AS; else nothing is said."""
    values, start = _Values(reader, scope), reader.peek().start
    try:
        typed = values.value()
    except _LeftToSparkError:
        return None
    end = reader.peek(-1).end
    name = reader.alias()
    if not name or typed.type not in _TYPES:
        return None
    return PlainOutput(name, PlainValue(typed.value, typed.type, tuple(values.names)), start, end)


class _Values:
    """Reads values; _LeftToSparkError where Spark might read or compute them in another way."""

    def __init__(self, reader: PlainReader, scope: ColumnScope) -> None:
        self.reader, self.scope = reader, scope
        self.names: list[PlainName] = []

    def value(self) -> PlainValue:
        """An expression, to the end of what can belong to it."""
        return self._chain("or", Or, lambda: self._chain("and", And, self._negated))

    def _chain(self, word: str, combine: type[And | Or], read: Callable[[], PlainValue]) -> PlainValue:
        parts = [read()]
        while self.reader.word(word):
            parts.append(read())
        if len(parts) == 1:
            return parts[0]
        return PlainValue(_balanced([self._sure(_condition(part)) for part in parts], combine), "BOOLEAN")

    def _negated(self) -> PlainValue:
        if self.reader.word("not"):
            return PlainValue(Not(self._operand(_condition(self._negated()))), "BOOLEAN")
        return self._test()

    def _test(self) -> PlainValue:
        reader, left = self.reader, self._sum()
        if reader.word("is"):
            negated = reader.word("not")
            _require(reader.word("null") and left.type in _KINDS)
            test: RowValue = IsNull(self._sure(left.value))
            return PlainValue(Not(test) if negated else test, "BOOLEAN")
        before, negated = reader.place, reader.word("not")
        if reader.word("like"):
            test = self._like(left)
        elif reader.word("in"):
            test = self._among(left)
        else:
            reader.place = before
            return self._comparison(left)
        return PlainValue(Not(test) if negated else test, "BOOLEAN")

    def _comparison(self, left: PlainValue) -> PlainValue:
        token = self.reader.peek()
        if token.kind != "sign" or token.text not in _SIGNS:
            return left
        self.reader.place += 1
        sign = _SIGNS[token.text]
        compared = self._compared(sign or "=", left, self._sum())
        return PlainValue(compared if sign else Not(compared), "BOOLEAN")

    def _compared(self, sign: str, left: PlainValue, right: PlainValue) -> Comparison:
        """Spark knows what a comparison of a value with itself gives, and does not compute the value."""
        kind = _KINDS.get(left.type)
        _require(kind is not None and kind is _KINDS.get(right.type))
        comparison = Comparison(sign, *self._operands(left.value, right.value))
        _require(comparison.left != comparison.right or not may_fail(comparison))
        return comparison

    def _like(self, of: PlainValue) -> RowValue:
        token = self.reader.peek()
        self.reader.place += 1
        _require(of.type == "STRING" and token.kind == "text")
        test = like_test(self._sure(of.value), token.text, "\\")
        if test is None:
            raise _LeftToSparkError
        return test

    def _among(self, of: PlainValue) -> RowValue:
        kind = _KINDS.get(of.type)
        _require(self.reader.take("(") and kind is not None)
        values: list[ConstantValue] = []
        while not values or self.reader.take(","):
            constant = _known(self._constant())
            if not isinstance(constant.value, Constant) or _KINDS.get(constant.type) is not kind:
                raise _LeftToSparkError
            values.append(constant.value.value)
        _require(self.reader.take(")"))
        return InList(self._sure(of.value), tuple(values))

    def _sum(self) -> PlainValue:
        left = self._product()
        while (sign := self.reader.peek()).kind == "sign" and sign.text in {"+", "-", "||"}:
            self.reader.place += 1
            right = self._product()
            left = (
                self.concat("||", [left, right])
                if sign.text == "||"
                else self._number(sign.text, left, right)
            )
        return left

    def _product(self) -> PlainValue:
        left = self._signed()
        while (sign := self.reader.peek()).kind == "sign" and sign.text in {"*", "/"}:
            self.reader.place += 1
            left = self._number(sign.text, left, self._signed())
        return left

    def _number(self, sign: str, left: PlainValue, right: PlainValue) -> PlainValue:
        kind = "DOUBLE" if sign == "/" and _DECIMAL not in {left.type, right.type} else None
        kind = kind or _common_type((left.type, right.type))
        _require(kind in {"INT", "BIGINT", "DOUBLE"})
        _require({left.type, right.type} <= {*WHOLE_TYPES, "DOUBLE", _DECIMAL})
        made = Arithmetic(sign, *self._operands(_as(left, kind), _as(right, kind)), kind)
        _require(reads_columns(made))
        # Spark adds up the constants of a chain first, which may spare it an overflow.
        _require(sum(not reads_columns(part) for part in _chained(made, sign)) < 2)
        return PlainValue(made, kind)

    def _signed(self) -> PlainValue:
        following = self.reader.peek(1)
        if self.reader.peek().text != "-" or self.reader.peek().kind != "sign" or following.kind == "number":
            return self._primary()
        self.reader.place += 1
        of = self._signed()
        _require(of.type in {"INT", "BIGINT", "DOUBLE"} and reads_columns(of.value))
        return PlainValue(Negation(self._operand(of.value), of.type), of.type)

    def _primary(self) -> PlainValue:
        reader = self.reader
        constant = self._constant()
        if constant is not None:
            return constant
        if reader.take("("):
            inside = self.value()
            _require(reader.take(")"))
            return inside
        if reader.word("case"):
            return self._case()
        if reader.word("null"):
            return _NOTHING
        name = reader.peek()
        if name.kind == "name" and reader.peek(1).text == "(" and reader.peek(1).kind == "sign":
            reader.place += 2
            return self._call(name.text.lower())
        return self._column()

    def _column(self) -> PlainValue:
        name = _known(self.reader.name())
        _require(len(name.parts) == 1)  # a column of a side is a field to Spark
        column, match = column_of(name, self.scope), self.scope.find(name.parts)
        if column is None or match is None or column.type not in _TYPES:
            raise _LeftToSparkError
        self.names.append(name)
        return PlainValue(ColumnValue(match[0]), column.type)

    def _constant(self) -> PlainValue | None:
        token = self.reader.peek()
        if token.kind == "text":
            self.reader.place += 1
            return PlainValue(Constant(token.text), "STRING")
        minus = token.kind == "sign" and token.text == "-" and self.reader.peek(1).kind == "number"
        if minus:
            token = self.reader.peek(1)
        if token.kind == "number":
            self.reader.place += 1 + minus
            return _number_constant(token.text, minus)
        for word, truth in (("true", True), ("false", False)):
            if self.reader.word(word):
                return PlainValue(Constant(truth), "BOOLEAN")
        return None

    def _case(self) -> PlainValue:
        reader = self.reader
        of = None if reader.peek().text.lower() == "when" else self.value()
        branches: list[tuple[RowValue, PlainValue]] = []
        while reader.word("when"):
            condition = self.value()
            test = _condition(condition) if of is None else self._compared("=", of, condition)
            _require(reader.word("then"))
            branches.append((test, self.value()))
        otherwise = self.value() if reader.word("else") else _NOTHING
        _require(bool(branches) and reader.word("end"))
        return self._branches(branches, otherwise)

    def _branches(self, branches: Sequence[tuple[RowValue, PlainValue]], otherwise: PlainValue) -> PlainValue:
        """A condition whose branches are the same, or that is known, is not computed by Spark."""
        results = [*(result for _, result in branches), otherwise]
        kind = _common_type([result.type for result in results])
        values = [self._operand(_as(result, kind), null=True) for result in results]
        made = Case(
            tuple((test, value) for (test, _), value in zip(branches, values[:-1], strict=True)),
            values[-1],
            kind,
        )
        if may_fail(made):
            bare = [_bare(value) for value in values]
            _require(all(reads_columns(test) for test, _ in made.branches))
            _require(not any(bare[n] in bare[:n] for n in range(len(bare))))
            for test, _ in made.branches:
                self._operand(test)
        return PlainValue(made, kind)

    def _call(self, function: str) -> PlainValue:
        if function == "cast":
            return self._cast()
        arguments = [] if self.reader.take(")") else [self.value()]
        while arguments and self.reader.take(","):
            arguments.append(self.value())
        if arguments:
            _require(self.reader.take(")"))
        for functions, counts, read in _CALLS:
            if function in functions and len(arguments) in counts:
                return read(self, function, arguments)
        raise _LeftToSparkError

    def conditional(self, _: str, arguments: Sequence[PlainValue]) -> PlainValue:
        condition, result, otherwise = arguments
        return self._branches([(_condition(condition), result)], otherwise)

    def nullif(self, _: str, arguments: Sequence[PlainValue]) -> PlainValue:
        value, other = arguments
        self._sure(value.value)  # Spark may compute it once, before all others
        return self._branches([(self._compared("=", value, other), _NOTHING)], value)

    def length(self, _: str, arguments: Sequence[PlainValue]) -> PlainValue:
        return PlainValue(TextFunction("length", self._text(arguments[0])), "INT")

    def trimmed(self, function: str, arguments: Sequence[PlainValue]) -> PlainValue:
        return PlainValue(TextFunction(function, self._text(arguments[0])), "STRING")

    def text_test(self, function: str, arguments: Sequence[PlainValue]) -> PlainValue:
        of, part = self._text(arguments[0]), arguments[1].value
        if not isinstance(part, Constant) or not isinstance(part.value, str):
            raise _LeftToSparkError
        return PlainValue(TextTest(_TESTS[function], of, part.value), "BOOLEAN")

    def _cast(self) -> PlainValue:
        of = self.value()
        _require(self.reader.word("as"))
        token = self.reader.peek()
        self.reader.place += 1
        kind = _CAST_TYPES.get(token.text.upper()) if token.kind == "name" else None
        _require(kind is not None and self.reader.take(")"))
        return PlainValue(self._operand(_as(of, kind or ""), null=True), kind or "")

    def first_value(self, _: str, arguments: Sequence[PlainValue]) -> PlainValue:
        kind = _common_type([argument.type for argument in arguments])
        values = tuple(self._operand(_as(argument, kind), null=True) for argument in arguments)
        _require(reads_columns(values[0]))
        return PlainValue(Coalesce(values, kind), kind)

    def concat(self, _: str, arguments: Sequence[PlainValue]) -> PlainValue:
        made = Concat(self._operands(*(self._text(argument) for argument in arguments)))
        return PlainValue(made, "STRING")

    def substring(self, _: str, arguments: Sequence[PlainValue]) -> PlainValue:
        """Only with plain numbers: what comes before the first character has rules of its own."""
        bounds: list[int] = []
        for bound in arguments[1:]:
            if not isinstance(bound.value, Constant) or bound.type != "INT":
                raise _LeftToSparkError
            bounds.append(int(bound.value.value))
        start, length = bounds[0], bounds[1] if len(bounds) > 1 else None
        _require(start > 0 and (length is None or length >= 0))
        return PlainValue(Substring(self._text(arguments[0]), start - 1, length), "STRING")

    def _text(self, of: PlainValue) -> RowValue:
        _require(of.type == "STRING")
        return self._operand(of.value)

    def _operand(self, value: RowValue, *, null: bool = False) -> RowValue:
        """A value within another: Spark computes what stands around branches within them, and nulls away."""
        _require(null or not isinstance(value, NullValue))
        _require(not (isinstance(value, Case | Coalesce) and may_fail(value)))
        return value

    def _operands(self, *values: RowValue) -> tuple[RowValue, ...]:
        """Values of which Spark computes none where it knows that one of them is null."""
        _require(not any(map(may_fail, values)) or not any(map(may_be_null_always, values)))
        return tuple(self._operand(value) for value in values)

    def _sure(self, value: RowValue) -> RowValue:
        """A value on which nothing can fail: Spark may compute it or not."""
        _require(not isinstance(value, NullValue) and not may_fail(value))
        return value


_ANY_NUMBER: Final = range(1, 1000)
_CALLS: Final = (
    ({"if"}, {3}, _Values.conditional),
    ({"coalesce"}, _ANY_NUMBER, _Values.first_value),
    ({"nvl", "ifnull"}, {2}, _Values.first_value),
    ({"nullif"}, {2}, _Values.nullif),
    ({"concat"}, _ANY_NUMBER, _Values.concat),
    ({"length", "char_length", "character_length"}, {1}, _Values.length),
    ({"trim", "ltrim", "rtrim"}, {1}, _Values.trimmed),
    ({"substring", "substr"}, {2, 3}, _Values.substring),
    ({"startswith", "endswith", "contains"}, {2}, _Values.text_test),
)
"""Names of functions, how many arguments they take, and what reads a call."""


def _require(holds: bool) -> None:
    if not holds:
        raise _LeftToSparkError


def _known(value: _Part | None) -> _Part:
    if value is None:
        raise _LeftToSparkError
    return value


def _condition(of: PlainValue) -> RowValue:
    _require(of.type == "BOOLEAN")
    return of.value


def _number_constant(text: str, minus: bool) -> PlainValue:
    if "." in text:
        _require(len(text) <= _MOST_DIGITS)
        number = float(text)
        return PlainValue(Constant(-number if minus and number else number), _DECIMAL)  # no decimal is -0
    whole = -int(text) if minus else int(text)
    if -_MOST_INT - 1 <= whole <= _MOST_INT:
        return PlainValue(Constant(whole), "INT")
    _require(-_MOST_BIGINT - 1 <= whole <= _MOST_BIGINT)
    return PlainValue(Constant(whole), "BIGINT")


def _common_type(types: Sequence[str]) -> str:
    """The type that Spark gives to values of several types; nulls have that of the others."""
    kinds = {kind for kind in types if kind != _NULL}
    if len(kinds) == 1:
        (kind,) = kinds
        _require(kind != _DECIMAL)  # whose digits matter
        return kind
    if kinds and kinds <= set(WHOLE_TYPES):
        return max(kinds, key=WHOLE_TYPES.index)
    _require("DOUBLE" in kinds and kinds <= {*WHOLE_TYPES, "DOUBLE", _DECIMAL})
    return "DOUBLE"


def _as(of: PlainValue, kind: str) -> RowValue:
    """A value as one of a type, where it has a cast with rules that are the same everywhere."""
    if of.type == kind:
        return of.value
    if of.type == _NULL:
        return NullValue(kind)
    if of.type == _DECIMAL:
        _require(kind == "DOUBLE")
        return of.value
    whole = of.type in WHOLE_TYPES and kind in (*WHOLE_TYPES, "DOUBLE", "STRING")
    _require(whole or (of.type, kind) == ("BOOLEAN", "STRING"))
    cast = Cast(of.value, of.type, kind)
    _require(not narrows(cast) or reads_columns(of.value))
    return cast


def _chained(value: RowValue, sign: str) -> Sequence[RowValue]:
    """What a chain of one sign joins."""
    if isinstance(value, Arithmetic) and value.sign == sign:
        return [*_chained(value.left, sign), *_chained(value.right, sign)]
    return [value]


def _bare(value: RowValue) -> RowValue:
    return _bare(value.of) if isinstance(value, Cast) else value


def _balanced(parts: Sequence[RowValue], combine: type[And | Or]) -> RowValue:
    """What one word joins, as the even tree that Spark's parser makes of it."""
    if len(parts) == 1:
        return parts[0]
    half = (len(parts) - 1) // 2 + 1
    return combine(_balanced(parts[:half], combine), _balanced(parts[half:], combine))
