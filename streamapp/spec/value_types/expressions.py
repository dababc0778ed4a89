"""The words, texts and brackets of Spark SQL expressions, as Spark's lexer divides them.

Here is all that is read of an expression without its meaning: whether quotes and brackets close, and where
entries of lists and arguments of calls end. Of meanings sqlglot has an opinion
(`streamapp.columns.sql_reading`), and Spark the last word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

# An unclosed quote is one token up to the end, so that no character is scanned twice.
_TOKEN: Final = re.compile(
    r"""
      (?P<comment>--(?:\\\n|[^\r\n])*+)    # to the end of the line, or of the next one
    | (?P<comments>/\*)
    | (?P<text>[rR]'[^']*+'|[rR]"[^"]*+"   # in a raw text a backslash is a backslash
        |'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")
    | (?P<name>`(?:[^`]|``)*+`)
    | (?P<unclosed>[rR]?['"].*|`.*)
    | (?P<word>\w+)
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<sign><=>|<=|>=|<>|=>|->|\S)
    """,
    re.X | re.S,
)
_EDGE_OF_COMMENT: Final = re.compile(r"/\*(?!\+)|\*/")


class SqlToken(NamedTuple):
    """A word, sign, bracket, text in quotes or name in backquotes, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


def sql_tokens(text: str) -> tuple[SqlToken, ...]:
    """The tokens of a text without its comments; what is not closed is the last one."""
    tokens: list[SqlToken] = []
    position = 0
    while match := _TOKEN.search(text, position):
        kind, start, position = match.lastgroup or "", match.start(), match.end()
        if kind == "comments":
            end = _end_of_comment(text, start)
            kind, position = ("comment", end) if end else ("unclosed", len(text))
        if kind != "comment":
            tokens.append(SqlToken(kind, text[start:position], start, position))
    return tuple(tokens)


def unbalanced(expression: str) -> str:
    """The first quote, comment or bracket that does not close, in words; empty where all do."""
    tokens, opened = sql_tokens(expression), list[SqlToken]()
    if not tokens:
        return "is empty; write a Spark SQL expression"
    for token in tokens:
        if token.kind == "open":
            opened.append(token)
        elif token.kind == "close" and (not opened or opened.pop().text + token.text not in {"()", "[]"}):
            return f"the {token.text} at character {token.start + 1} closes nothing"
        elif token.kind == "unclosed":
            is_comment = token.text.startswith("/*")
            opener = "comment /*" if is_comment else f"quote {token.text.lstrip('rR')[0]}"
            return f"the {opener} at character {token.start + 1} is not closed"
    if opened:
        return f"the {opened[-1].text} at character {opened[-1].start + 1} is not closed"
    return ""


def with_depth(tokens: Iterable[SqlToken]) -> Iterator[tuple[SqlToken, int]]:
    """Each token, and in how many brackets it stands; a bracket stands in those around its pair."""
    depth = 0
    for token in tokens:
        depth -= token.kind == "close"
        yield token, depth
        depth += token.kind == "open"


def list_entries(tokens: Sequence[SqlToken]) -> Iterator[Sequence[SqlToken]]:
    """The tokens of each entry between commas that stand in no brackets."""
    entry: list[SqlToken] = []
    for token, depth in with_depth(tokens):
        if token.text == "," and not depth:
            yield entry
            entry = []
        else:
            entry.append(token)
    if tokens:
        yield entry


def within_brackets(tokens: Iterable[SqlToken]) -> Iterator[Sequence[SqlToken]]:
    """The tokens within each pair of brackets that stands in no other."""
    inside: list[SqlToken] = []
    for token, depth in with_depth(tokens):
        if depth > 0:
            inside.append(token)
        elif token.kind == "close":
            yield inside
            inside = []


def without_alias(entry: Sequence[SqlToken], aliases: int = 1) -> Sequence[SqlToken]:
    """An entry before `AS name`, `name` or `AS (name, name)`, which it is known to have."""
    end = len(entry) - 1
    if entry[end].kind == "close":
        end -= 2 * aliases
    return entry[: end - (entry[end - 1].text.lower() == "as")]


def one_spelling(tokens: Sequence[SqlToken]) -> str:
    """The text in small letters outside of quotes, with one spelling of spaces and without comments."""
    spelled = ""
    for before, token in zip((None, *tokens), tokens, strict=False):
        if before is not None and before.end < token.start and not {before.text, token.text} & {*"(),"}:
            spelled += " "
        is_quoted = token.kind in {"text", "name"}
        spelled += token.text[0].lower() + token.text[1:] if is_quoted else token.text.lower()
    return spelled


def _end_of_comment(text: str, start: int) -> int:
    """The position after a comment, in which others may stand; 0 for an unclosed one."""
    depth = 1
    for edge in _EDGE_OF_COMMENT.finditer(text, start + 2):
        depth += -1 if edge.group() == "*/" else 1
        if not depth:
            return edge.end()
    return 0
