"""Between Arrow columns and the bytes objects that stores take, and ranges of entries a piece at a time."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter

import pyarrow as pa

Entry = tuple[bytes, bytes]
FoundValues = list[bytes | None]

CHUNK = 8192
"""How many entries a scan holds at a time, at most."""

_FIRST_CHUNK = 64


def last_writes(keys: pa.Array, values: pa.Array) -> dict[bytes, bytes | None]:
    """The last write of each key, from writes in order; None where it deletes."""
    if keys.null_count:
        raise ValueError("a store has no entry for a null key")
    return dict(zip(keys.to_pylist(), values.to_pylist(), strict=True))


def distinct_writes(
    keys: pa.Array, values: pa.Array, written: dict[bytes, bytes | None]
) -> tuple[pa.BinaryArray, pa.BinaryArray]:
    """Writes of which only the last of each key is left, as columns again."""
    if len(written) == len(keys):
        return keys.cast(pa.binary()), values.cast(pa.binary())
    return written_columns(written)


def written_columns(written: dict[bytes, bytes | None]) -> tuple[pa.BinaryArray, pa.BinaryArray]:
    """The writes of distinct keys as columns."""
    return pa.array(list(written), pa.binary()), pa.array(list(written.values()), pa.binary())


def next_key(key: bytes) -> bytes:
    """The next key that there can be."""
    return key + b"\0"


def as_columns(chunks: Iterable[Sequence[Entry]]) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Chunks of entries as columns of keys and of values."""
    for chunk in chunks:
        keys, values = zip(*chunk, strict=True)
        yield pa.array(keys, pa.binary()), pa.array(values, pa.binary())


def in_chunks(
    read: Callable[[bytes, int], list[Entry]], start: bytes, end: bytes | None
) -> Iterator[list[Entry]]:
    """The entries with start <= key < end, in pieces that grow, so that a short range reads little more.

    `read` gives so many entries from a key on, fewer only where there are no more.
    """
    position, size = start, _FIRST_CHUNK
    while chunk := read(position, size):
        last = chunk[-1][0]
        if end is not None and last >= end:
            chunk = chunk[: bisect_left(chunk, end, key=itemgetter(0))]
            if chunk:
                yield chunk
            return
        yield chunk
        if len(chunk) < size:
            return
        position, size = next_key(last), min(4 * size, CHUNK)


def overlaid(
    chunks: Iterable[list[Entry]],
    start: bytes,
    end: bytes | None,
    over: Callable[[bytes, bytes | None], dict[bytes, bytes | None]],
) -> Iterator[list[Entry]]:
    """Chunks of entries with others laid over them; `over` gives those of a range, None where one hides."""
    position = start
    for chunk in chunks:
        upto = next_key(chunk[-1][0])
        merged = _merged(chunk, over(position, upto))
        position = upto
        if merged:
            yield merged
    last_chunk = _merged([], over(position, end))
    if last_chunk:
        yield last_chunk


def _merged(chunk: list[Entry], above: dict[bytes, bytes | None]) -> list[Entry]:
    if not above:
        return chunk
    return [(key, value) for key, value in sorted((dict(chunk) | above).items()) if value is not None]
