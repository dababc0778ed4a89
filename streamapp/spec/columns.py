"""Column lists as Spark SQL writes them: `user STRING, ts TIMESTAMP, tags ARRAY<STRING>`.

Parsed here, without Spark, so that a wrong one is found where it was written.
"""

import re
from dataclasses import dataclass

from streamapp.spec.problem import nearest

SIMPLE = (
    "STRING", "BOOLEAN", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "VARIANT",
    "TINYINT", "BYTE", "SMALLINT", "SHORT", "INT", "INTEGER", "BIGINT", "LONG", "FLOAT", "REAL", "DOUBLE",
)  # fmt: skip
PARAMETERS = {"DECIMAL": (0, 2), "DEC": (0, 2), "NUMERIC": (0, 2), "CHAR": (1, 1), "VARCHAR": (1, 1)}
NESTED = ("ARRAY", "MAP", "STRUCT")
DEEPEST = 32

_token = re.compile(
    r"\s*(?:(`(?:[^`]|``)+`)|([A-Za-z_][A-Za-z0-9_]*)|([0-9]+)|('(?:[^'\\]|\\.|'')*')|([<>(),:])|(\S))", re.S
)


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
            raise ColumnListError(f'column "{column.name}" stands twice (Spark does not tell case apart)')
        seen.add(column.name.lower())
    return columns


class _Reader:
    """A cursor over the tokens; each method reads one construct of the grammar."""

    def __init__(self, text: str) -> None:
        self.tokens = [
            (m.group().strip(), m.start() + len(m.group()) - len(m.group().lstrip()), m.lastindex)
            for m in _token.finditer(text)
        ]
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def fail(self, wanted: str) -> ColumnListError:
        if self.at >= len(self.tokens):
            return ColumnListError(f"the column list ends where {wanted} has to stand")
        word, place, _ = self.tokens[self.at]
        return ColumnListError(f'found "{word}" at character {place + 1} where {wanted} has to stand')

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
            if not self.peek().startswith("'"):
                raise self.fail("a comment in single quotes")
            self.at += 1
        return Column(name, kind, nullable)

    def name(self) -> str:
        if self.at < len(self.tokens) and self.tokens[self.at][2] in {1, 2}:
            word = self.tokens[self.at][0]
            self.at += 1
            return word[1:-1].replace("``", "`") if word.startswith("`") else word
        raise self.fail("a column name (in backquotes if it is no plain word)")

    def type(self) -> str:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ColumnListError(f"types are nested more than {DEEPEST} deep")
        if self.at >= len(self.tokens) or self.tokens[self.at][2] != 2:
            raise self.fail("a type")
        word = self.tokens[self.at][0].upper()
        if word not in (*SIMPLE, *PARAMETERS, *NESTED):
            raise ColumnListError(self.unknown_type(word))
        self.at += 1
        kind = self.nested(word) if word in NESTED else word + self.parameters(word)
        self.depth -= 1
        return kind

    def unknown_type(self, word: str) -> str:
        place = self.tokens[self.at][1]
        return f'"{word}" at character {place + 1} is no type{nearest(word, [*SIMPLE, *PARAMETERS, *NESTED])}'

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
            while not self.take(")"):
                if numbers:
                    self.expect(",")
                if not self.peek().isdecimal():
                    raise self.fail("a number")
                numbers.append(self.peek())
                self.at += 1
        if not least <= len(numbers) <= most:
            raise ColumnListError(
                f"{word} takes {least or 'at most ' + str(most)} number(s) in brackets, found {len(numbers)}"
            )
        return f"({', '.join(numbers)})" if numbers else ""


def quote(name: str) -> str:
    """The name as Spark SQL reads it back: in backquotes unless it is a plain word."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else "`" + name.replace("`", "``") + "`"
