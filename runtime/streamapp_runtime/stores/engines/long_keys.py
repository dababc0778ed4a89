"""Keys that LMDB cannot hold as they are, the empty one and those longer than 511 bytes, in buckets.

A bucket holds all such keys with the same first 510 bytes, sorted, with their values; its own key is those
bytes with one before them. So buckets follow each other as the keys do.
"""

import struct
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import groupby

import lmdb

from streamapp_runtime.stores.engines.entries import Entry

LONGEST = 511
_SHARED = LONGEST - 1
_LENGTHS = struct.Struct("<II")


def is_long(key: bytes) -> bool:
    """True if a key has to go into a bucket."""
    return not 0 < len(key) <= LONGEST


def get(buckets: "lmdb.Cursor[bytes]", key: bytes) -> bytes | None:
    """The value of a long key."""
    return dict(_entries(buckets.get(_name(key)) or b"")).get(key)


def put(buckets: "lmdb.Cursor[bytes]", written: dict[bytes, bytes | None]) -> None:
    """Write long keys, each bucket once; a bucket that becomes empty goes."""
    for name, keys in groupby(sorted(written), _name):
        entries: dict[bytes, bytes | None] = dict(_unpack(buckets.get(name) or b""))
        entries.update((key, written[key]) for key in keys)
        remaining = [(key, value) for key, value in sorted(entries.items()) if value is not None]
        if remaining:
            buckets.put(name, _pack(remaining))
        elif buckets.set_key(name):
            buckets.delete()


def within(buckets: "lmdb.Cursor[bytes]", start: bytes, end: bytes | None) -> dict[bytes, bytes | None]:
    """The long keys of a range and their values."""
    values: dict[bytes, bytes | None] = {}
    if buckets.set_range(_name(start)):
        for name, content in buckets.iternext():
            if end is not None and name > _name(end):
                break
            entries = _unpack(content)
            keys = [key for key, _ in entries]
            until = len(keys) if end is None else bisect_left(keys, end)
            values.update(entries[bisect_left(keys, start) : until])
    return values


def count(buckets: "lmdb.Cursor[bytes]") -> int:
    """The number of long keys."""
    return sum(len(_unpack(content)) for content in buckets.iternext(keys=False)) if buckets.first() else 0


def _name(key: bytes) -> bytes:
    return b"k" + key[:_SHARED]


def _pack(entries: Iterable[Entry]) -> bytes:
    return b"".join(_LENGTHS.pack(len(key), len(value)) + key + value for key, value in entries)


def _unpack(content: bytes) -> list[Entry]:
    return list(_entries(content))


def _entries(content: bytes) -> Iterator[Entry]:
    at = 0
    while at < len(content):
        key, value = _LENGTHS.unpack_from(content, at)
        at += _LENGTHS.size
        yield content[at : at + key], content[at + key : at + key + value]
        at += key + value
