"""Column lists as Spark SQL writes them: `user STRING, ts TIMESTAMP, tags ARRAY<STRING>`.

Parsed here, without Spark, so that a wrong one is found where it was written.
"""

import re
from dataclasses import dataclass

from streamapp.spec.problem import nearest, short

SIMPLE = (
    "STRING", "BOOLEAN", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "VARIANT",
    "TINYINT", "BYTE", "SMALLINT", "SHORT", "INT", "INTEGER", "BIGINT", "LONG", "FLOAT", "REAL", "DOUBLE",
)  # fmt: skip
PARAMETERS = {"DECIMAL": (0, 2), "DEC": (0, 2), "NUMERIC": (0, 2), "CHAR": (1, 1), "VARCHAR": (1, 1)}
NESTED = ("ARRAY", "MAP", "STRUCT")
MOST_DIGITS = 38
DEEPEST = 32

# What a quote that does not close begins is one token to the end, so that nothing is looked at twice.
_token = re.compile(
    r"\s*(?:(`(?:[^`]|``)++`)|([A-Za-z_][A-Za-z0-9_]*)|([0-9]+)"
    r"|('(?:[^'\\]|\\.|'')*+'|\"(?:[^\"\\]|\\.|\"\")*+\")|(['\"`].*)|([<>(),:])|(\S))",
    re.S,
)
_BACKQUOTED, _WORD, _NUMBER, _TEXT, _UNCLOSED = 1, 2, 3, 4, 5


class ColumnListError(ValueError):
    """A column list that does not parse, and where."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its type in one canonical spelling, and whether it may be null."""

    name: str
    type: str
    nullable: bool = True


def parse_columns(text: str) -> tuple[Column, ...]:
    """The columns of the list, or a ColumnListError that names the place and what may stand there."""
    reader = _Reader(text)
    columns = reader.fields(separator=None, until="")
    seen: set[str] = set()
    for column in columns:
        if column.name.lower() in seen:
            name = short(column.name)
            raise ColumnListError(f'column "{name}" stands twice (Spark does not tell case apart)')
        seen.add(column.name.lower())
    return columns


class _Reader:
    """A cursor over the tokens; each method reads one construct of the grammar."""

    def __init__(self, text: str) -> None:
        self.tokens = [
            (found, m.start(m.lastindex or 0), m.lastindex)
            for m in _token.finditer(text)
            if (found := m.group(m.lastindex or 0))
        ]
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def kind(self) -> int | None:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else None

    def fail(self, wanted: str) -> ColumnListError:
        if self.at >= len(self.tokens):
            return ColumnListError(f"the column list ends where {wanted} has to stand")
        word, place, kind = self.tokens[self.at]
        if kind == _UNCLOSED:
            return ColumnListError(f"the quote {word[0]} at character {place + 1} is not closed")
        return ColumnListError(f"found {short(word)} at character {place + 1} where {wanted} has to stand")

    def take(self, token: str) -> bool:
        found = self.peek().upper() == token
        self.at += found
        return found

    def expect(self, token: str) -> None:
        if not self.take(token):
            raise self.fail(f'"{token}"')

    def fields(self, separator: str | None, until: str) -> tuple[Column, ...]:
        found = [self.field(separator)]
        while self.take(","):
            found.append(self.field(separator))
        if self.peek() != until:
            raise self.fail('","' + (f' or "{until}"' if until else ""))
        return tuple(found)

    def field(self, separator: str | None) -> Column:
        name = self.name()
        if separator:
            self.take(separator)
        kind = self.type()
        nullable = True
        if self.take("NOT"):
            self.expect("NULL")
            nullable = False
        if self.take("COMMENT"):
            if self.kind() != _TEXT:
                raise self.fail("a comment in quotes")
            self.at += 1
        return Column(name, kind, nullable)

    def name(self) -> str:
        if self.kind() in {_BACKQUOTED, _WORD}:
            word = self.tokens[self.at][0]
            self.at += 1
            return word[1:-1].replace("``", "`") if word.startswith("`") else word
        raise self.fail("a column name (in backquotes if it is no plain word)")

    def type(self) -> str:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ColumnListError(f"types are nested more than {DEEPEST} deep")
        if self.kind() != _WORD:
            raise self.fail("a type such as STRING, BIGINT or ARRAY<STRING>")
        word = self.tokens[self.at][0].upper()
        if word not in (*SIMPLE, *PARAMETERS, *NESTED):
            raise ColumnListError(self.unknown_type(word))
        self.at += 1
        kind = self.nested(word) if word in NESTED else word + self.parameters(word)
        self.depth -= 1
        return kind

    def unknown_type(self, word: str) -> str:
        place = self.tokens[self.at][1]
        meant = nearest(word, [*SIMPLE, *PARAMETERS, *NESTED])
        return f'"{short(word)}" at character {place + 1} is no type{meant}'

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
        least, most = PARAMETERS.get(word, (0, 0))
        numbers: list[str] = []
        if most and self.take("("):
            numbers.append(self.number())
            while self.take(","):
                numbers.append(self.number())
            self.expect(")")
        if not least <= len(numbers) <= most:
            wanted = "one number" if least else "at most two numbers"
            raise ColumnListError(f"{word} takes {wanted} in brackets, found {len(numbers)}")
        if most == 2 and numbers and not _is_decimal(*map(int, numbers)):
            raise ColumnListError(
                f"{word}({', '.join(numbers)}) is no decimal: it takes 1 to {MOST_DIGITS} digits, "
                "of which no more than all are decimals"
            )
        return f"({', '.join(numbers)})" if numbers else ""

    def number(self) -> str:
        if self.kind() != _NUMBER or len(self.peek()) > 9:
            raise self.fail("a number of at most 9 digits")
        self.at += 1
        return self.tokens[self.at - 1][0]


def _is_decimal(digits: int, decimals: int = 0) -> bool:
    return 1 <= digits <= MOST_DIGITS and decimals <= digits


def quote(name: str) -> str:
    """The name as Spark SQL reads it back: in backquotes unless it is a plain word."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else "`" + name.replace("`", "``") + "`"
