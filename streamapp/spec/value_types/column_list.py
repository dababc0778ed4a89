"""Column lists as Spark SQL writes them: `user STRING, ts TIMESTAMP, tags ARRAY<STRING>`.

Column lists are parsed without Spark, so that an error is reported where the list was written.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from streamapp.spec.problem import nearest, short

SIMPLE = (
    "STRING", "BOOLEAN", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "VARIANT",
    "TINYINT", "BYTE", "SMALLINT", "SHORT", "INT", "INTEGER", "BIGINT", "LONG", "FLOAT", "REAL", "DOUBLE",
)  # fmt: skip
SYNONYMS: Final[Mapping[str, str]] = {
    "BYTE": "TINYINT",
    "SHORT": "SMALLINT",
    "INTEGER": "INT",
    "LONG": "BIGINT",
    "REAL": "FLOAT",
    "TIMESTAMP_LTZ": "TIMESTAMP",
}
"""Simple types that Spark names in another way than they may be declared."""
PARAMETERS = {"DECIMAL": (0, 2), "DEC": (0, 2), "NUMERIC": (0, 2), "CHAR": (1, 1), "VARCHAR": (1, 1)}
NESTED = ("ARRAY", "MAP", "STRUCT")
MOST_DIGITS = 38
DEEPEST = 32

# An unclosed quote is one token up to the end, so that no character is scanned twice.
_token = re.compile(
    r"\s*(?:(`(?:[^`]|``)++`)|([A-Za-z_][A-Za-z0-9_]*)|([0-9]+)"
    r"|('(?:[^'\\]|\\.|'')*+'|\"(?:[^\"\\]|\\.|\"\")*+\")|(['\"`].*)|([<>(),:])|(\S))",
    re.S,
)
_BACKQUOTED, _WORD, _NUMBER, _TEXT, _UNCLOSED = 1, 2, 3, 4, 5


class ColumnListError(ValueError):
    """A column list that does not parse, with the position of the error."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its type in one canonical spelling, and whether it may be null."""

    name: str
    type: str
    nullable: bool = True


def parse_columns(text: str) -> tuple[Column, ...]:
    """The columns of the list, or a ColumnListError with the position and the expected token."""
    reader = _Reader(text)
    columns = reader.fields(separator=None, until="")
    names: set[str] = set()
    for column in columns:
        if column.name.lower() in names:
            name = short(column.name)
            raise ColumnListError(f'column "{name}" occurs twice (Spark ignores case)')
        names.add(column.name.lower())
    return columns


def declared_name(columns: Iterable[Column], name: str) -> str:
    """The name of a column as the list has it: a stream may say it in other letter case."""
    return next((column.name for column in columns if column.name.lower() == name.lower()), name)


class _Reader:
    """A cursor over the tokens; each method reads one construct of the grammar."""

    def __init__(self, text: str) -> None:
        self.tokens = [
            (token, match.start(match.lastindex or 0), match.lastindex)
            for match in _token.finditer(text)
            if (token := match.group(match.lastindex or 0))
        ]
        self.position = 0
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.position][0] if self.position < len(self.tokens) else ""

    def kind(self) -> int | None:
        return self.tokens[self.position][2] if self.position < len(self.tokens) else None

    def fail(self, expected: str) -> ColumnListError:
        if self.position >= len(self.tokens):
            return ColumnListError(f"the column list ends where {expected} is expected")
        word, place, kind = self.tokens[self.position]
        if kind == _UNCLOSED:
            return ColumnListError(f"the quote {word[0]} at character {place + 1} is not closed")
        return ColumnListError(f"found {short(word)} at character {place + 1} where {expected} is expected")

    def take(self, token: str) -> bool:
        matches = self.peek().upper() == token
        self.position += matches
        return matches

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise self.fail(f'"{token}"')

    def fields(self, separator: str | None, until: str) -> tuple[Column, ...]:
        columns = [self.field(separator)]
        while self.take(","):
            columns.append(self.field(separator))
        if self.peek() != until:
            raise self.fail('","' + (f' or "{until}"' if until else ""))
        return tuple(columns)

    def field(self, separator: str | None) -> Column:
        name = self.name()
        if separator:
            self.take(separator)
        type_text = self.type()
        nullable = True
        if self.take("NOT"):
            self.expect("NULL")
            nullable = False
        if self.take("COMMENT"):
            if self.kind() != _TEXT:
                raise self.fail("a comment in quotes")
            self.position += 1
        return Column(name, type_text, nullable)

    def name(self) -> str:
        if self.kind() in {_BACKQUOTED, _WORD}:
            word = self.tokens[self.position][0]
            self.position += 1
            return word[1:-1].replace("``", "`") if word.startswith("`") else word
        raise self.fail("a column name (in backquotes if it is no plain word)")

    def type(self) -> str:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ColumnListError(f"types are nested more than {DEEPEST} deep")
        if self.kind() != _WORD:
            raise self.fail("a type such as STRING, BIGINT or ARRAY<STRING>")
        word = self.tokens[self.position][0].upper()
        if word not in (*SIMPLE, *PARAMETERS, *NESTED):
            raise ColumnListError(self.unknown_type(word))
        self.position += 1
        type_text = self.nested(word) if word in NESTED else word + self.parameters(word)
        self.depth -= 1
        return type_text

    def unknown_type(self, word: str) -> str:
        place = self.tokens[self.position][1]
        suggestion = nearest(word, [*SIMPLE, *PARAMETERS, *NESTED])
        return f'"{short(word)}" at character {place + 1} is no type{suggestion}'

    def nested(self, word: str) -> str:
        self.expect("<")
        if word == "ARRAY":
            inside = self.type()
        elif word == "MAP":
            key = self.type()
            self.expect(",")
            inside = f"{key}, {self.type()}"
        else:
            fields = self.fields(separator=":", until=">")
            inside = ", ".join(
                f"{quote(f.name)}: {f.type}{'' if f.nullable else ' NOT NULL'}" for f in fields
            )
        self.expect(">")
        return f"{word}<{inside}>"

    def parameters(self, word: str) -> str:
        fewest, most_numbers = PARAMETERS.get(word, (0, 0))
        numbers: list[str] = []
        if most_numbers and self.take("("):
            numbers.append(self.number())
            while self.take(","):
                numbers.append(self.number())
            self.expect(")")
        if not fewest <= len(numbers) <= most_numbers:
            expected_numbers = "one number" if fewest else "at most two numbers"
            raise ColumnListError(f"{word} takes {expected_numbers} in brackets, found {len(numbers)}")
        if most_numbers == 2 and numbers and not _is_decimal(*map(int, numbers)):
            raise ColumnListError(
                f"{word}({', '.join(numbers)}) is no decimal: it takes 1 to {MOST_DIGITS} digits, "
                "of which no more than all are decimals"
            )
        return f"({', '.join(numbers)})" if numbers else ""

    def number(self) -> str:
        if self.kind() != _NUMBER or len(self.peek()) > 9:
            raise self.fail("a number of at most 9 digits")
        self.position += 1
        return self.tokens[self.position - 1][0]


def digits_of_sum(digits: int) -> int:
    """The digits of the DECIMAL in which Spark sums one of so many."""
    return min(digits + 10, MOST_DIGITS)


def _is_decimal(digits: int, decimals: int = 0) -> bool:
    return 1 <= digits <= MOST_DIGITS and decimals <= digits


def quote(name: str) -> str:
    """The name as Spark SQL reads it: in backquotes unless the name is a plain word."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else "`" + name.replace("`", "``") + "`"
