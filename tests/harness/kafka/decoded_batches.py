"""What the decoder makes of an answer's bytes."""

from collections.abc import Sequence

import numpy as np

from streamapp_runtime.systems.kafka.wire.batch_format import varints
from streamapp_runtime.systems.kafka.wire.batch_format.batch_decoder import decode_batches
from streamapp_runtime.systems.kafka.wire.batch_format.batch_headers import read_batches
from streamapp_runtime.systems.stream_system import STORED_WITH_HEADERS
from tests.harness.kafka.plain_batches import Record

Row = tuple[int, bytes | None, bytes | None, int | None]


def decoded(data: bytes, *, check: bool = True) -> list[Row]:
    octets = np.frombuffer(data + bytes(varints.PADDING), np.uint8)
    found = list(read_batches(octets, 0, len(data), check=check))
    return [
        tuple(row.values())
        for part in decode_batches(octets, [one for one in found if one.count])
        for row in part.to_pylist()
    ]


def decoded_headers(data: bytes, *, check: bool = True) -> list[list[tuple[str, bytes | None]]]:
    octets = np.frombuffer(data + bytes(varints.PADDING), np.uint8)
    found = [one for one in read_batches(octets, 0, len(data), check=check) if one.count]
    parts = list(decode_batches(octets, found, headers=True))
    for part in parts:
        assert part.schema == STORED_WITH_HEADERS
        part.validate(full=True)
    return [
        [(header["name"], header["value"]) for header in headers]
        for part in parts
        for headers in part.column("headers").to_pylist()
    ]


def expected(base: int, records: Sequence[Record], time: int = 1_000) -> list[Row]:
    return [(base + one.number, one.key, one.value, time + one.time) for one in records]
