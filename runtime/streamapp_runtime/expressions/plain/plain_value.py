"""Expressions that are read, typed and computed without Spark, where nothing in them is Spark's alone.

What is read here has the type that Spark's analyser gives it, and a worker computes what Spark would. Errors
come on the rows on which they come in Spark. Its optimizer drops, reorders and folds parts of an expression,
and with them their errors: where it may do that, and a part can fail, the expression is left to Spark.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from streamapp.columns.column_scope import ColumnScope
from streamapp_runtime.expressions.plain.plain_expression import (
    PlainName,
    PlainReader,
    column_with_fields,
    plain_tokens,
)
from streamapp_runtime.expressions.plain.plain_functions import plain_call
from streamapp_runtime.expressions.plain.plain_nested import bracketed, field_value, is_nested_type
from streamapp_runtime.expressions.plain.plain_operands import (
    arithmetic,
    balanced,
    branches_of,
    cast_value,
    compared,
    condition_of,
    null_safe,
    null_test,
    operand,
    sure,
)
from streamapp_runtime.expressions.plain.plain_texts import concat
from streamapp_runtime.expressions.plain.plain_types import (
    CAST_TYPES,
    DECIMAL_LITERAL,
    KINDS,
    NOTHING,
    TIME_LITERALS,
    LeftToSparkError,
    PlainValue,
    is_computed_type,
    known,
    number_constant,
    require,
    time_literal,
)
from streamapp_runtime.expressions.row_value import (
    WHOLE_TYPES,
    And,
    ColumnValue,
    Constant,
    InList,
    Negation,
    Not,
    Or,
    RowValue,
    like_pattern,
    like_test,
    reads_columns,
)

_SIGNS: Final = {"=": "=", "==": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<>": "", "!=": ""}
_MOST_DOUBLES: Final = 10
"""In a list of more, Spark looks a value up by its hash."""
_LAST_OF_TWO_BYTES: Final = "\uffff"
"""An escape is one character of Java."""


@dataclass(frozen=True, slots=True)
class PlainOutput:
    """One entry of a select list: the name that it gives, and what it computes where."""

    name: str
    computed: PlainValue
    start: int
    end: int


def plain_value(text: str, scope: ColumnScope) -> PlainValue | None:
    """The value that an expression over a scope's positions computes; None where only Spark can say."""
    tokens = plain_tokens(text)
    if not tokens:
        return None
    reader = PlainReader(tokens)
    values = _Values(reader, scope)
    try:
        typed = values.value()
    except LeftToSparkError:
        return None
    is_whole = reader.done and _is_given(typed.type)
    return PlainValue(typed.value, typed.type, tuple(values.names)) if is_whole else None


def plain_condition(text: str, scope: ColumnScope) -> RowValue | None:
    """A condition over a scope's positions; None where only Spark can say what it means."""
    plain = plain_value(text, scope)
    return plain.value if plain is not None and plain.type == "BOOLEAN" else None


def plain_output(reader: PlainReader, scope: ColumnScope) -> PlainOutput | None:
    """The next entry of a select list: an expression with a name behind AS, or the part of a column."""
    values, start = _Values(reader, scope), reader.peek().start
    try:
        typed = values.value()
    except LeftToSparkError:
        return None
    end = reader.peek(-1).end
    name = reader.alias()
    if name == "" and [(each.start, each.end) for each in values.names] == [(start, end)]:
        name = values.names[0].parts[-1]
    if not name or not _is_given(typed.type):
        return None
    return PlainOutput(name, PlainValue(typed.value, typed.type, tuple(values.names)), start, end)


class _Values:
    """Reads values; LeftToSparkError where Spark might read or compute them in another way."""

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
        return PlainValue(balanced([sure(condition_of(part)) for part in parts], combine), "BOOLEAN")

    def _negated(self) -> PlainValue:
        if self.reader.word("not"):
            return PlainValue(Not(operand(condition_of(self._negated()))), "BOOLEAN")
        return self._test()

    def _test(self) -> PlainValue:
        reader, left = self.reader, self._sum()
        if reader.word("is"):
            negated = reader.word("not")
            require(reader.word("null"))
            test = null_test(left)
            return PlainValue(Not(test) if negated else test, "BOOLEAN")
        before, negated = reader.place, reader.word("not")
        if reader.word("like"):
            test = self._like(left)
        elif reader.word("in"):
            test = self._among(left)
        elif reader.word("between"):
            test = self._between(left)
        else:
            reader.place = before
            return self._comparison(left)
        return PlainValue(Not(test) if negated else test, "BOOLEAN")

    def _comparison(self, left: PlainValue) -> PlainValue:
        if self.reader.take("<=>"):
            return PlainValue(null_safe(left, self._sum()), "BOOLEAN")
        token = self.reader.peek()
        if token.kind != "sign" or token.text not in _SIGNS:
            return left
        self.reader.place += 1
        sign = _SIGNS[token.text]
        comparison = compared(sign or "=", left, self._sum())
        return PlainValue(comparison if sign else Not(comparison), "BOOLEAN")

    def _between(self, of: PlainValue) -> RowValue:
        """Spark computes what is compared before all else, and the second bound only if it has to."""
        least = self._sum()
        require(self.reader.word("and"))
        most = self._sum()
        require(of.type not in WHOLE_TYPES or DECIMAL_LITERAL not in {least.type, most.type})
        return And(sure(compared(">=", of, least)), sure(compared("<=", of, most)))

    def _like(self, of: PlainValue) -> RowValue:
        pattern, escape = self._text_literal(), "\\"
        if self.reader.word("escape"):
            escape = self._text_literal()
            require(len(escape) == 1 and escape <= _LAST_OF_TWO_BYTES)
        require(of.type == "STRING")
        value = sure(of.value)
        return like_test(value, pattern, escape) or known(like_pattern(value, pattern, escape))

    def _text_literal(self) -> str:
        token = self.reader.peek()
        require(token.kind == "text")
        self.reader.place += 1
        return token.text

    def _among(self, of: PlainValue) -> RowValue:
        require(self.reader.take("("))
        listed = [self._listed()]
        while self.reader.take(","):
            listed.append(self._listed())
        require(self.reader.take(")"))
        if of.type == "DOUBLE":
            require(len(listed) <= _MOST_DOUBLES)
            return balanced([sure(compared("=", of, constant)) for constant in listed], Or)
        kind = KINDS.get(of.type)
        require(kind is not None and all(KINDS.get(constant.type) is kind for constant in listed))
        return InList(
            sure(of.value), tuple(one.value.value for one in listed if isinstance(one.value, Constant))
        )

    def _listed(self) -> PlainValue:
        return known(self._constant())

    def _sum(self) -> PlainValue:
        left = self._product()
        while (token := self.reader.peek()).kind == "sign" and token.text in {"+", "-", "||"}:
            self.reader.place += 1
            right, sign = self._product(), token.text
            left = concat(sign, [left, right]) if sign == "||" else arithmetic(sign, left, right)
        return left

    def _product(self) -> PlainValue:
        left = self._signed()
        while sign := self._sign_of_product():
            left = arithmetic(sign, left, self._signed())
        return left

    def _sign_of_product(self) -> str:
        if self.reader.word("div"):
            return "div"
        return next((sign for sign in "*/%" if self.reader.take(sign)), "")

    def _signed(self) -> PlainValue:
        following = self.reader.peek(1)
        if self.reader.peek().text != "-" or self.reader.peek().kind != "sign" or following.kind == "number":
            return self._with_parts(self._primary())
        self.reader.place += 1
        of = self._signed()
        require(of.type in {"INT", "BIGINT", "DOUBLE"} and reads_columns(of.value))
        return PlainValue(Negation(operand(of.value), of.type), of.type)

    def _primary(self) -> PlainValue:
        reader = self.reader
        constant = self._constant()
        if constant is not None:
            return constant
        if reader.take("("):
            inside = self.value()
            require(reader.take(")"))
            return inside
        if reader.word("case"):
            return self._case()
        if reader.word("null"):
            return NOTHING
        name = reader.peek()
        if name.kind == "name" and reader.peek(1).text == "(" and reader.peek(1).kind == "sign":
            reader.place += 2
            return self._call(name.text.lower())
        return self._column()

    def _with_parts(self, of: PlainValue) -> PlainValue:
        """A value, or what the dots, brackets and colons behind it make of it."""
        reader = self.reader
        while True:
            if reader.take("["):
                of = bracketed(of, self.value())
                require(reader.take("]"))
            elif reader.take("."):
                require(reader.is_name(0))
                of = field_value(of, reader.peek().text)
                reader.place += 1
            elif reader.take("::"):
                of = cast_value(of, self._type())
            else:
                return of

    def _column(self) -> PlainValue:
        name = known(self.reader.name())
        position, fields = known(column_with_fields(name, self.scope))
        self.names.append(name)
        of = PlainValue(ColumnValue(position), self.scope.columns[position].type)
        for field in fields:
            of = field_value(of, field)
        return of

    def _constant(self) -> PlainValue | None:
        token = self.reader.peek()
        if token.kind == "text":
            self.reader.place += 1
            return PlainValue(Constant(token.text), "STRING")
        if token.text.lower() in TIME_LITERALS and self.reader.peek(1).kind == "text":
            self.reader.place += 2
            return time_literal(token.text.lower(), self.reader.peek(-1).text)
        minus = token.kind == "sign" and token.text == "-" and self.reader.peek(1).kind == "number"
        if minus:
            token = self.reader.peek(1)
        if token.kind == "number":
            self.reader.place += 1 + minus
            return number_constant(token.text, minus)
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
            test = condition_of(condition) if of is None else compared("=", of, condition)
            require(reader.word("then"))
            branches.append((test, self.value()))
        otherwise = self.value() if reader.word("else") else NOTHING
        require(bool(branches) and reader.word("end"))
        return branches_of(branches, otherwise)

    def _call(self, function: str) -> PlainValue:
        if function == "cast":
            return self._cast()
        if function == "position":
            return self._position()
        return plain_call(function, self._arguments())

    def _position(self) -> PlainValue:
        """`position(part IN text)`, or a call as any other."""
        part = self._sum()
        if not self.reader.word("in"):
            require(self.reader.take(","))
            return plain_call("position", [part, *self._arguments()])
        of = self._sum()
        require(self.reader.take(")"))
        return plain_call("position", [part, of])

    def _arguments(self) -> list[PlainValue]:
        arguments = [] if self.reader.take(")") else [self.value()]
        while arguments and self.reader.take(","):
            arguments.append(self.value())
        if arguments:
            require(self.reader.take(")"))
        return arguments

    def _cast(self) -> PlainValue:
        of = self.value()
        require(self.reader.word("as"))
        kind = self._type()
        require(self.reader.take(")"))
        return cast_value(of, kind)

    def _type(self) -> str:
        token = self.reader.peek()
        self.reader.place += 1
        require(token.kind == "name")
        return known(CAST_TYPES.get(token.text.upper()))


def _is_given(kind: str) -> bool:
    """True if a worker can give values of a type on; parts of columns may have parts themselves."""
    return is_computed_type(kind) or is_nested_type(kind)
