"""The partition of a key, as Kafka's Java producers choose it, and librdkafka's."""

from typing import Final
from zlib import crc32

_MULTIPLIER: Final = 0x5BD1E995
_SEED: Final = 0x9747B28C
_WORD: Final = 0xFFFFFFFF


def partition(key: bytes, count: int, partitioner: str = "murmur2") -> int:
    """The hash of the key's bytes modulo the number of partitions."""
    return (crc32(key) if partitioner == "crc32" else _murmur2(key)) % count


def _murmur2(key: bytes) -> int:
    """The hash without its sign."""
    value = _SEED ^ len(key)
    whole = len(key) // 4 * 4
    for place in range(0, whole, 4):
        word = int.from_bytes(key[place : place + 4], "little") * _MULTIPLIER & _WORD
        word = (word ^ word >> 24) * _MULTIPLIER & _WORD
        value = value * _MULTIPLIER & _WORD ^ word
    if rest := key[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * _MULTIPLIER & _WORD
    value = (value ^ value >> 13) * _MULTIPLIER & _WORD
    return (value ^ value >> 15) & 0x7FFFFFFF
