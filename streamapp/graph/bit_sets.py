"""Sets of numbered streams as whole numbers: bit n stands for stream n, so a union is one `|`.

An app of 10,000 operators has thousands of joins of thousands of streams; sets of names would not do.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import TypeVar

_T = TypeVar("_T")
_BITS = bytes.maketrans(b"01", b"\x00\x01")


def mask_of(numbers: Iterable[int]) -> int:
    """The set that holds these numbers."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


def lowest(mask: int) -> int:
    """The smallest number in a set that is not empty."""
    return (mask & -mask).bit_length() - 1


def numbers_in(mask: int) -> Iterator[int]:
    """The numbers in a set, smallest first."""
    # Taking off a bit costs the mask's length; writing the mask out costs that once, and a step per place.
    if mask.bit_count() * 16 < mask.bit_length():
        while mask:
            number = lowest(mask)
            yield number
            mask &= mask - 1
    else:
        yield from compress(range(mask.bit_length()), _places(mask))


def members(mask: int, names: Sequence[_T]) -> tuple[_T, ...]:
    """The entries of `names` that a set's numbers stand for, in the order of `names`."""
    if mask.bit_count() * 16 < mask.bit_length():
        return tuple(names[number] for number in numbers_in(mask))
    return tuple(compress(names, _places(mask)))


def _places(mask: int) -> bytes:
    return f"{mask:b}"[::-1].encode().translate(_BITS)
