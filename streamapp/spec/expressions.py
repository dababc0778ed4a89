"""What can be said of a Spark SQL expression without Spark: whether its quotes and brackets close.

Everything else is Spark's to judge: the engine analyses every expression before it starts.
"""

PAIRS = {")": "(", "]": "["}
QUOTES = "'\"`"


def unbalanced(expression: str) -> str:
    """The first quote or bracket that does not close, in words; empty where all do."""
    if not expression.strip():
        return "is empty; write a Spark SQL expression"
    opened: list[tuple[str, int]] = []
    quote, since, position = "", 0, 0
    while position < len(expression):
        char = expression[position]
        if quote:
            if char == "\\" and quote != "`":
                position += 1
            elif char == quote:
                quote = ""
        elif char in QUOTES:
            quote, since = char, position
        elif char in PAIRS.values():
            opened.append((char, position))
        elif char in PAIRS and (not opened or opened.pop()[0] != PAIRS[char]):
            return f"the {char} at character {position + 1} closes nothing"
        position += 1
    if quote:
        return f"the quote {quote} at character {since + 1} is not closed"
    if opened:
        return f"the {opened[-1][0]} at character {opened[-1][1] + 1} is not closed"
    return ""
