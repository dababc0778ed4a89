"""Lines of a binary stream, many at a time, byte for byte as they are but for their ends."""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase

import pyarrow as pa
import pyarrow.compute as pc

_BLOCK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Lines:
    """Neighbouring lines; `first` is the number of the first of them, counted from 1."""

    values: pa.BinaryArray
    first: int

    def filled(self) -> tuple[pa.BinaryArray, pa.Array]:
        """The lines that are not blank, and their numbers."""
        numbers = pa.array(range(self.first, self.first + len(self.values)), pa.int64())
        blank = pc.match_substring_regex(self.values, r"^\s*$")
        if not pc.any(blank).as_py():
            return self.values, numbers
        return self.values.filter(pc.invert(blank)), numbers.filter(pc.invert(blank))


class UnusableLineError(Exception):
    """A line that is not what its format asks for."""


def read_lines(source: BufferedIOBase) -> Iterator[Lines]:
    """The lines as they come: a pipe's at once, a file's some megabytes at a time."""
    unfinished = b""
    number = 1
    while block := source.read1(_BLOCK_BYTES):
        complete, newline, incomplete = block.rpartition(b"\n")
        if not newline:
            unfinished += block
            continue
        lines = Lines(_split(unfinished + complete), number)
        number += len(lines.values)
        unfinished = incomplete
        yield lines
    if unfinished:
        yield Lines(_split(unfinished), number)


def _split(block: bytes) -> pa.BinaryArray:
    lines = pc.split_pattern(pa.array([block], pa.binary()), pattern=b"\n").flatten()
    if b"\r" in block:
        lines = pc.replace_substring_regex(lines, pattern=rb"\r\z", replacement=b"")
    return lines
