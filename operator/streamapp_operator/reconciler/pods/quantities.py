"""Kubernetes quantities such as `500m`, `2` and `1Gi`."""

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


def quantity_value(quantity: str) -> Fraction:
    """The exact value of a quantity; a ValueError for another text."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", quantity)
    if match is None or match[2] not in _UNITS:
        raise ValueError(f'"{quantity}" is no quantity')
    return Fraction(match[1]) * _UNITS[match[2]]
