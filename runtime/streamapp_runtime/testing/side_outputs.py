"""The input that an app left out, as tests see it: late rows, and records that could not be processed."""

import json
from base64 import b64decode
from dataclasses import dataclass

from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.testing.record_rows import Row, stored_batches


@dataclass(frozen=True, slots=True)
class LateRowSeen:
    """A row that came behind the watermark."""

    operator: str
    row: Row
    time: int  # milliseconds
    watermark: int


@dataclass(frozen=True, slots=True)
class BadRecordSeen:
    """A record that was left out."""

    stream: str
    partition: int
    offset: int
    reason: str
    key: bytes | None
    value: bytes | None


def late_rows(systems: Systems, stream: str) -> list[LateRowSeen]:
    """The late rows of a stream that takes them."""
    documents = _documents(systems, stream)
    return [LateRowSeen(one["operator"], one["row"], one["time"], one["watermark"]) for one in documents]


def bad_records(systems: Systems, stream: str) -> list[BadRecordSeen]:
    """The records of a dead-letter stream."""
    return [
        BadRecordSeen(
            stream=document["stream"],
            partition=document["partition"],
            offset=document["offset"],
            reason=document["reason"],
            key=_bytes(document["key"]),
            value=_bytes(document["value"]),
        )
        for document in _documents(systems, stream)
    ]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


def _documents(systems: Systems, stream: str) -> list[Row]:
    return [
        json.loads(value)
        for _, batch in stored_batches(systems, stream)
        for value in batch.column("value").to_pylist()
    ]
