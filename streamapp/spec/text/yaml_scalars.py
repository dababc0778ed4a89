"""The values of YAML's plain scalars, by the rules of kubectl's reader.

By the same rules the writer quotes texts, so that a written text reads back the same.
"""

import math
import re

FLAGS = {
    form: flag
    for flag, words in ((True, ("true", "yes", "on", "y")), (False, ("false", "no", "off", "n")))
    for word in words
    for form in (word, word.capitalize(), word.upper())
}
NOTHING = frozenset({"", "~", "null", "Null", "NULL"})

_decimal = re.compile(r"[-+]?(0|[1-9][0-9_]{0,17})")
_other_base = re.compile(r"[-+]?0(x[0-9a-fA-F_]{1,16}|b[01_]{1,60}|o?[0-7_]{1,20})")
_number = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def scalar_value(word: str) -> bool | int | float | str | None:
    """The value of a scalar without quotes."""
    if word in NOTHING:
        return None
    if word in FLAGS:
        return FLAGS[word]
    whole = word.replace("_", "")
    if _decimal.fullmatch(word):
        return int(whole)
    if _other_base.fullmatch(word) and (number := _in_other_base(whole)) is not None:
        return number
    if _number.fullmatch(word) and math.isfinite(float(word)):
        return float(word)
    return word


def _in_other_base(word: str) -> int | None:
    """A number in hexadecimal, binary or octal form; a bare leading 0 means octal too."""
    sign, digits = (-1, word[1:]) if word[0] == "-" else (1, word.lstrip("+"))
    try:
        return sign * (int(digits, 0) if digits[1:2] in "xbo" and digits[1:2] else int(digits, 8))
    except ValueError:
        return None
