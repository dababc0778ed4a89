"""The check of a Spark SQL expression without Spark: whether quotes and brackets close.

All other checks are Spark's: the engine analyses every expression before it starts.
"""

import re

PAIRS = {")": "(", "]": "["}

# Tokens that open or close; quotes within comments and brackets within quotes are skipped.
_token = re.compile(
    r"""
      --[^\n]*                       # a comment to the end of the line
    | (?P<comment>/\*)
    | \b[rR](?P<raw>['"])            # in a raw text a backslash is a backslash
    | (?P<quote>['"`])
    | (?P<open>[(\[])
    | (?P<close>[)\]])
    """,
    re.X,
)
_rest = {
    "'": re.compile(r"(?:[^'\\]|\\.)*+'", re.S),
    '"': re.compile(r'(?:[^"\\]|\\.)*+"', re.S),
    "`": re.compile(r"[^`]*+`"),
}


def unbalanced(expression: str) -> str:
    """The first quote, comment or bracket that does not close, in words; empty where all do."""
    if not expression.strip():
        return "is empty; write a Spark SQL expression"
    opened: list[tuple[str, int]] = []
    position = 0
    while token := _token.search(expression, position):
        start, position = token.start(), token.end()
        match token.lastgroup:
            case "open":
                opened.append((token.group(), start))
            case "close":
                if not opened or opened.pop()[0] != PAIRS[token.group()]:
                    return f"the {token.group()} at character {start + 1} closes nothing"
            case "comment" | "quote" | "raw" as kind:
                position = _end_of_token(expression, kind, token.group(kind), position)
                if not position:
                    what = "comment" if kind == "comment" else "quote"
                    return f"the {what} {token.group(kind)} at character {start + 1} is not closed"
            case _:
                pass
    if opened:
        return f"the {opened[-1][0]} at character {opened[-1][1] + 1} is not closed"
    return ""


def _end_of_token(expression: str, kind: str, opener: str, start: int) -> int:
    """The position after a quote or comment; 0 for an unclosed one."""
    if kind in {"comment", "raw"}:
        closer = "*/" if kind == "comment" else opener
        index = expression.find(closer, start)
        return index + len(closer) if index >= 0 else 0
    closing = _rest[opener].match(expression, start)
    return closing.end() if closing else 0
