"""Record batches written one byte after the other, as the protocol's guide says: slow, and simple."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Record:
    key: bytes | None
    value: bytes | None
    number: int
    time: int = 0
    headers: Sequence[tuple[bytes, bytes | None]] = field(default=())


def number(value: int) -> bytes:
    folded = ((value << 1) ^ (value >> 63)) & (1 << 64) - 1
    found = bytearray()
    while folded >= 0x80:
        found.append(folded & 0x7F | 0x80)
        folded >>= 7
    return bytes([*found, folded])


def text(value: bytes | None) -> bytes:
    return number(-1) if value is None else number(len(value)) + value


def record(one: Record) -> bytes:
    headers = b"".join(text(key) + text(value) for key, value in one.headers)
    body = (
        b"\0" + number(one.time) + number(one.number) + text(one.key) + text(one.value)
        + number(len(one.headers)) + headers
    )  # fmt: skip
    return number(len(body)) + body


def remainder(octet: int) -> int:
    for _ in range(8):
        octet = (octet >> 1) ^ (0x82F63B78 if octet & 1 else 0)
    return octet


REMAINDERS = [remainder(octet) for octet in range(256)]


def checksum(data: bytes) -> int:
    rest = 0xFFFFFFFF
    for octet in data:
        rest = (rest >> 8) ^ REMAINDERS[(rest ^ octet) & 0xFF]
    return rest ^ 0xFFFFFFFF


def batch(base: int, records: Sequence[Record], time: int = 1_000, attributes: int = 0) -> bytes:
    last = max((one.number for one in records), default=0)
    checked = struct.pack(
        ">hiqqqhii", attributes, last, time, time + max((one.time for one in records), default=0),
        -1, -1, -1, len(records),
    ) + b"".join(map(record, records))  # fmt: skip
    return struct.pack(">qiibI", base, len(checked) + 9, 0, 2, checksum(checked)) + checked
