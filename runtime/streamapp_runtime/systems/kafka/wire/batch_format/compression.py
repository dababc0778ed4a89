"""Compressed records: what the protocol calls each way, and the bytes behind it."""

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pyarrow as pa

from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Octets


class CompressionCodec(IntEnum):
    """The ways, by their numbers in a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_LEVELS = {
    codec: range(pa.Codec.minimum_compression_level(name), pa.Codec.maximum_compression_level(name) + 1)
    for codec, name in (
        (CompressionCodec.GZIP, "gzip"),
        (CompressionCodec.LZ4, "lz4_raw"),
        (CompressionCodec.ZSTD, "zstd"),
    )
}
"""The levels that codecs have; snappy has none, and takes no notice of one."""
_LARGEST = 1 << 30  # what becomes larger is no batch that a broker let in
# The mark of a frame; blocks apart and no checksums; up to 4 MiB each; the checksum of the last two.
_LZ4_HEAD = b"\x04\x22\x4d\x18\x60\x70\x73"
_LZ4_BLOCK = 4 << 20
_LZ4_STORED = 1 << 31
_SNAPPY_STREAM = b"\x82SNAPPY\0"
_SNAPPY_HEAD = 16  # that, and two versions


def decompress(codec: CompressionCodec, octets: Octets) -> Octets:
    """The bytes that were compressed; MalformedError where there are none."""
    try:
        match codec:
            case CompressionCodec.NONE:
                return octets
            case CompressionCodec.GZIP:
                return _gzip(octets)
            case CompressionCodec.SNAPPY:
                return _snappy(octets)
            case CompressionCodec.LZ4 | CompressionCodec.ZSTD:
                return _stream(octets, codec.name.lower())
    except (OSError, ValueError, zlib.error, struct.error) as error:
        raise MalformedError(f"compressed records cannot be read: {error}") from None


@dataclass(frozen=True, slots=True)
class Compression:
    """A codec, and how hard it tries; `level` is the codec's own where there is none."""

    codec: CompressionCodec
    level: int | None = None

    def __post_init__(self) -> None:
        """ValueError where the codec has no such level."""
        if self.level is not None and self.codec in _LEVELS and self.level not in _LEVELS[self.codec]:
            levels = _LEVELS[self.codec]
            raise ValueError(f"{self.codec.name.lower()} has the levels {levels[0]} to {levels[-1]}")

    def compress(self, octets: Octets) -> Octets:
        """The bytes in fewer bytes, as Java's and C's clients can read them."""
        match self.codec:
            case CompressionCodec.NONE:
                return octets
            case CompressionCodec.SNAPPY:  # bare, without a stream's frame, as librdkafka writes it
                return np.frombuffer(pa.compress(octets, "snappy"), np.uint8)
            case CompressionCodec.LZ4:
                return _lz4(octets, pa.Codec("lz4_raw", self.level))
            case CompressionCodec.GZIP | CompressionCodec.ZSTD:
                return np.frombuffer(pa.Codec(self.codec.name.lower(), self.level).compress(octets), np.uint8)


UNCOMPRESSED = Compression(CompressionCodec.NONE)


def _lz4(octets: Octets, codec: pa.Codec) -> Octets:
    """A frame whose blocks know nothing of each other: others Java's client cannot read."""
    parts: list[bytes | memoryview] = [_LZ4_HEAD]
    for first in range(0, len(octets), _LZ4_BLOCK):
        block = octets[first : first + _LZ4_BLOCK]
        smaller = codec.compress(block)
        stored = len(smaller) >= len(block)
        parts.append(struct.pack("<I", len(block) | _LZ4_STORED if stored else len(smaller)))
        parts.append(block.data if stored else smaller)
    return np.frombuffer(b"".join([*parts, bytes(4)]), np.uint8)


def _gzip(octets: Octets) -> Octets:
    inflating = zlib.decompressobj(wbits=31)
    content = inflating.decompress(octets.data, _LARGEST)
    if not inflating.eof:
        raise ValueError("the end is missing, or is too far")
    return np.frombuffer(content, np.uint8)


def _snappy(octets: Octets) -> Octets:
    if octets[: len(_SNAPPY_STREAM)].tobytes() != _SNAPPY_STREAM:
        return _snappy_block(octets)
    at, blocks = _SNAPPY_HEAD, []
    while at < len(octets):
        (size,) = struct.unpack_from(">i", octets.data, at)
        at += 4
        if not 0 < size <= len(octets) - at:
            raise ValueError("a block does not end within its batch")
        blocks.append(_snappy_block(octets[at : at + size]))
        at += size
    return np.concatenate(blocks) if blocks else np.empty(0, np.uint8)


def _snappy_block(octets: Octets) -> Octets:
    """One block, which begins with its size."""
    size = shift = 0
    for octet in octets[:5].tolist():
        size |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            break
    # Three bytes can stand for 64 at the most: what says more would only take up memory.
    if size > min(_LARGEST, 32 * len(octets) + 64):
        raise ValueError("a block is larger than it can be")
    return np.frombuffer(pa.decompress(octets, size, "snappy"), np.uint8)


def _stream(octets: Octets, name: str) -> Octets:
    room, at = np.empty(4 * len(octets) + 4096, np.uint8), 0
    with pa.CompressedInputStream(pa.py_buffer(octets), name) as stream:
        while read := stream.readinto(room.data[at:]):
            at += read
            if at == len(room):
                if at > _LARGEST:
                    raise ValueError("the end is too far")
                room = np.concatenate([room, np.empty(at, np.uint8)])
    return room[:at]
