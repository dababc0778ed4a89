"""Keys of the one ordered map of the log: the first byte of a key tells the kind of its value.

Numbers are big-endian, so that keys sort as numbers do: the blocks of a partition stand in order of offset.
"""

import struct
from hashlib import blake2b

FORMAT = b"format"
LAST_ID = b"last-id"
STREAMS = b"s"

_fence = b"f"
_extent = struct.Struct(">cII")
_block = struct.Struct(">cIIQ")
_indexed = struct.Struct(">cI")


def stream_address(name: str) -> bytes:
    """The address of the entry about a stream."""
    return STREAMS + name.encode()


def fence_address(owner: str) -> bytes:
    """The incarnation that an owner was fenced with."""
    return _fence + owner.encode()


def extent_address(stream: int, index: int) -> bytes:
    """The address of the extent of a partition."""
    return _extent.pack(b"p", stream, index)


def block_address(stream: int, index: int, offset: int) -> bytes:
    """The block whose first record has this offset."""
    return _block.pack(b"b", stream, index, offset)


def blocks_of(stream: int, index: int) -> bytes:
    """The prefix of the addresses of all blocks of a partition."""
    return _extent.pack(b"b", stream, index)


def first_offset(address: bytes | memoryview) -> int:
    """The offset in the address of a block."""
    offset: int = _block.unpack(address)[3]
    return offset


def indexed_address(stream: int) -> bytes:
    """The address of the offset up to which the index of a compacted stream reaches."""
    return _indexed.pack(b"i", stream)


def newest_of(stream: int) -> bytes:
    """The prefix of the addresses of all entries of a stream's index."""
    return _indexed.pack(b"n", stream)


def newest_address(stream: int, key: bytes) -> bytes:
    """The index entry of a record's key; hashed, because an address is short and a key need not be."""
    return newest_of(stream) + blake2b(key, digest_size=20).digest()
