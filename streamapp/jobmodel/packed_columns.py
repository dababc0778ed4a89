"""Values laid out by column, so that what is regular about them compresses away.

Numbers are written as planes of bytes: all lowest bytes, then all second bytes and so on. A hundred thousand
owners below 1,000 then cost little more than their ten bits each, and numbers that follow a rule, nothing.
"""

import re
import struct
import zlib
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

from streamapp.spec.app_bounds import MOST_PARTITIONS

_NUMBERS = struct.Struct("<IqB")
_LENGTH = struct.Struct("<I")
# What a reader unpacks at most, so that a few hostile bytes cannot fill the memory.
_UNPACKED_LIMIT = 64 * 1024 * 1024
MOST_VALUES = 4 * MOST_PARTITIONS
# The last digits in a name read backwards, few enough for 64 bits.
_BACKWARDS = re.compile(r"([^0-9]*)([0-9]{1,18})")
_NO_NUMBER = -1


class MalformedColumnsError(ValueError):
    """The bytes are not what a `ColumnWriter` writes."""


class ColumnWriter:
    """Collects columns and packs them; a `ColumnReader` takes them out in the same order."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def packed(self) -> bytes:
        """All columns so far, compressed."""
        body = b"".join(self._parts)
        if len(body) > _UNPACKED_LIMIT:
            raise MalformedColumnsError(f"{len(body)} bytes are more than a reader takes")
        return zlib.compress(body, 6)

    def numbers(self, values: Sequence[int]) -> None:
        """Numbers of up to 64 bits, negative ones too."""
        low = min(values, default=0)
        width = max(1, ((max(values, default=0) - low).bit_length() + 7) // 8)
        words = struct.pack(f"<{len(values)}Q", *(value - low for value in values))
        self._parts.append(_NUMBERS.pack(len(values), low, width))
        self._parts.extend(words[plane::8] for plane in range(width))

    def steps(self, values: Sequence[int]) -> None:
        """Numbers that mostly grow by the same amount: each is written as its distance from the last."""
        self.numbers([after - before for before, after in pairwise([0, *values])])

    def raw(self, values: Sequence[bytes]) -> None:
        """Sequences of bytes, one after the other."""
        self.numbers([len(value) for value in values])
        self._parts.extend(values)

    def texts(self, values: Sequence[str]) -> None:
        """Texts, one after the other."""
        self.raw([value.encode() for value in values])

    def choices(self, values: Sequence[str]) -> None:
        """Texts of which many are alike: each different one once, and which of them each value is."""
        table = {value: number for number, value in enumerate(dict.fromkeys(values))}
        self.texts(list(table))
        self.numbers([table[value] for value in values])

    def names(self, values: Sequence[str]) -> None:
        """Texts of which many differ only in their last number, as `Partition 7` and `Partition 8` do."""
        split = [split_at_number(value) for value in values]
        if 2 * len({(before, after) for before, _, after in split}) > len(values):
            split = [(value, _NO_NUMBER, "") for value in values]
        self.choices([before for before, _, _ in split])
        self.steps([number for _, number, _ in split])
        self.choices([after for _, _, after in split])


class ColumnReader:
    """Takes columns out in the order in which they were written."""

    def __init__(self, packed: bytes, most_values: int = MOST_VALUES) -> None:
        self._most_values = most_values  # of a column
        unpack = zlib.decompressobj()
        try:
            self._body = unpack.decompress(packed, _UNPACKED_LIMIT)
        except zlib.error as error:
            raise MalformedColumnsError(str(error)) from None
        if not unpack.eof or unpack.unused_data:
            raise MalformedColumnsError("the compressed part does not end where it should")
        self._at = 0

    def numbers(self) -> list[int]:
        """The numbers that `ColumnWriter.numbers` wrote."""
        count, low, width = _NUMBERS.unpack(self._take(_NUMBERS.size))
        if count > self._most_values:
            raise MalformedColumnsError(
                f"a column of {count:,} values; at most {self._most_values:,} are read"
            )
        if not 1 <= width <= 8:
            raise MalformedColumnsError(f"a number of {width} bytes")
        planes = self._take(count * width)
        words = bytearray(count * 8)
        for plane in range(width):
            words[plane::8] = planes[plane * count : (plane + 1) * count]
        return [low + word for word in struct.unpack(f"<{count}Q", words)]

    def steps(self) -> list[int]:
        """The numbers that `ColumnWriter.steps` wrote."""
        return list(accumulate(self.numbers()))

    def raw(self) -> list[bytes]:
        """The sequences of bytes that `ColumnWriter.raw` wrote."""
        return [self._take(length) for length in self.numbers()]

    def texts(self) -> list[str]:
        """The texts that `ColumnWriter.texts` wrote."""
        return [value.decode() for value in self.raw()]

    def choices(self) -> list[str]:
        """The texts that `ColumnWriter.choices` wrote."""
        table = self.texts()
        return [table[number] for number in within_table(self.numbers(), len(table))]

    def names(self) -> list[str]:
        """The texts that `ColumnWriter.names` wrote."""
        befores, numbers, afters = self.choices(), self.steps(), self.choices()
        characters = sum(map(len, befores)) + sum(map(len, afters))
        if characters > _UNPACKED_LIMIT:
            raise MalformedColumnsError(f"names of {characters:,} characters")
        return [
            before if number == _NO_NUMBER else f"{before}{number}{after}"
            for before, number, after in zip(befores, numbers, afters, strict=True)
        ]

    def end(self) -> None:
        """Refuse bytes after the last column."""
        if self._at != len(self._body):
            raise MalformedColumnsError(f"{len(self._body) - self._at} bytes after the last column")

    def _take(self, length: int) -> bytes:
        taken = self._body[self._at : self._at + length]
        if length < 0 or len(taken) != length:
            raise MalformedColumnsError("a column ends too early")
        self._at += length
        return taken


def split_at_number(name: str) -> tuple[str, int, str]:
    """A name before its last number, that number, and what is after it; -1 where there is none."""
    number_match = _BACKWARDS.match(name[::-1])
    if not number_match:
        return name, _NO_NUMBER, ""
    end = len(name) - number_match.end(1)
    digits = number_match[2][::-1].lstrip("0") or "0"  # leading zeros belong to what is before
    return name[: end - len(digits)], int(digits), name[end:]


def within_table(values: Iterable[int], limit: int) -> list[int]:
    """The values, all of which must be places in a table of this length."""
    checked_values = list(values)
    if checked_values and not 0 <= min(checked_values) <= max(checked_values) < limit:
        raise MalformedColumnsError(f"a place outside a table of {limit}")
    return checked_values
