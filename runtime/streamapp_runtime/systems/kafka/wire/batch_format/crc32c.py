"""The checksum of record batches, by numpy at a few gigabytes a second.

A checksum is linear: it is a polynomial's remainder, and a part of the data may be replaced by any other
bits with the same remainder. For this polynomial

    x^5685 = x^1362 + x^426 + 1

and, squaring it again and again, the same holds for x^8 and x^64 in place of x. So 4323 words of 64 bits at
the front can be folded into the words behind them by three exclusive ors of whole arrays, until 5685 words
are left; then the same with bytes; the remainder of what then is left is looked up bit by bit.
"""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Unit = TypeVar("_Unit", np.uint8, np.uint64)

_POLYNOMIAL = 0x1EDC6F41
_DEGREE = 5685
_FOLDS = (5685 - 1362, 5685 - 426, 5685)
_AT_ONCE = _FOLDS[0]


def _remainders() -> npt.NDArray[np.uint32]:
    """The remainder of each bit of `_DEGREE` bytes, the last one the last bit's, in reflected form."""
    found = np.empty(_DEGREE * 8, np.uint32)
    value = 1 << 31  # x^0; in reflected form the highest bit is the lowest power
    reflected = int(f"{_POLYNOMIAL:032b}"[::-1], 2)
    for power in range(32 + len(found)):
        if power >= 32:
            found[-1 - (power - 32)] = value
        value = (value >> 1) ^ (reflected if value & 1 else 0)
    return found


_REMAINDERS = _remainders()


def crc32c(*parts: npt.NDArray[np.uint8]) -> int:
    """The CRC-32C of at least four bytes, which may lie in several places."""
    size = sum(map(len, parts))
    # Zeros in front change nothing; they make whole words.
    words = np.zeros((size + 7) // 8, np.uint64)
    octets = words.view(np.uint8)
    begin = place = len(octets) - size
    for part in parts:
        octets[place : place + len(part)] = part
        place += len(part)
    octets[begin : begin + 4] ^= 0xFF
    octets = _folded(_folded(words).view(np.uint8))
    bits = np.unpackbits(octets, bitorder="little")
    return int(np.bitwise_xor.reduce(_REMAINDERS[-len(bits) :] * bits)) ^ 0xFFFFFFFF


def _folded(units: npt.NDArray[_Unit]) -> npt.NDArray[_Unit]:
    """At most `_DEGREE` units with the same remainder."""
    at = 0
    while (spare := len(units) - at - _DEGREE) > 0:
        size = min(_AT_ONCE, spare)
        front = units[at : at + size]
        for fold in _FOLDS:
            units[at + fold : at + fold + size] ^= front
        at += size
    return units[at:]
