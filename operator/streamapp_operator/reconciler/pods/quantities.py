"""Kubernetes quantities such as `500m`, `2`, `1e3` and `1Gi`."""

import re
from fractions import Fraction
from typing import Final

_UNITS: Final = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12),
    "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40),
    "Pi": Fraction(2**50), "Ei": Fraction(2**60),
}  # fmt: skip

_QUANTITY: Final = re.compile(
    r"(?P<number>[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40}))"
    r"(?:[eE](?P<exponent>[+-]?[0-9]{1,2})|(?P<unit>[A-Za-z]*))",
    re.ASCII,
)


def quantity_value(quantity: str) -> Fraction:
    """The exact value of a quantity; a ValueError for another text."""
    match = _QUANTITY.fullmatch(quantity)
    if match is None or match["unit"] not in {None, *_UNITS}:
        raise ValueError(f'"{quantity}" is no quantity')
    return (
        Fraction(match["number"])
        * (Fraction(10) ** int(match["exponent"] or 0))
        * _UNITS[match["unit"] or ""]
    )
