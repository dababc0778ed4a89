"""The input that an app left out, as tests see it: late rows, and records that could not be processed."""

import json
from base64 import b64decode
from dataclasses import dataclass

from streamapp_runtime.lanes.records.dead_letters import REFUSAL_FIELDS
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.testing.record_rows import Header, Row, header_pairs, stored_batches


@dataclass(frozen=True, slots=True)
class LateRowSeen:
    """A row that came behind the watermark."""

    operator: str
    row: Row
    time: int  # milliseconds
    watermark: int
    headers: tuple[Header, ...] = ()  # those of the trace of its record


@dataclass(frozen=True, slots=True)
class BadRecordSeen:
    """A record that was left out."""

    stream: str
    partition: int
    offset: int
    reason: str
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()  # those of the record; its letter has further ones


def late_rows(systems: Systems, stream: str) -> list[LateRowSeen]:
    """The late rows of a stream that takes them."""
    return [
        LateRowSeen(one["operator"], one["row"], one["time"], one["watermark"], headers)
        for one, headers in _documents(systems, stream)
    ]


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
            headers=headers[: -len(REFUSAL_FIELDS)],
        )
        for document, headers in _documents(systems, stream)
    ]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


def _documents(systems: Systems, stream: str) -> list[tuple[Row, tuple[Header, ...]]]:
    return [
        (json.loads(record["value"]), header_pairs(record["headers"]))
        for _, batch in stored_batches(systems, stream)
        for record in batch.to_pylist()
    ]
