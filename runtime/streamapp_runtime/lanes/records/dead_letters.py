"""Bad records as they are written to the app's dead-letter stream, so that nothing of them is lost.

Each is a JSON object: `stream`, `partition`, `offset` and `timestamp` of the record, the `reason`, and its
`key` and `value` in base64, null where it had none. Its key is the record's own. Its headers are the record's
own in their order, and behind them all of the object but key and value: `streamapp.stream` and others.
"""

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from streamapp.spec.value_types.partitioner_names import DEFAULT_PARTITIONER, PartitionerName
from streamapp_runtime.lanes.protocol.rejections import RejectionCause, RejectionSample, bounded, record_place
from streamapp_runtime.operators.stateless.stream_operations import declared_stream
from streamapp_runtime.redacted_output import redacted
from streamapp_runtime.systems.stream_system import HEADERS

REFUSAL_FIELDS: Final = ("stream", "partition", "offset", "timestamp", "reason")
"""What a dead letter says of its record, in its value and in the last of its headers."""


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A record that could not be processed."""

    stream: str
    partition: int
    offset: int
    reason: str
    key: bytes | None
    value: bytes | None
    timestamp: int | None
    cause: RejectionCause = RejectionCause.RECORD
    headers: Sequence[dict[str, Any]] | None = None  # None where they were passed over

    @property
    def place(self) -> str:
        """The place of the record, for people."""
        return record_place(self.stream, self.partition, self.offset, None)

    @property
    def keyed_place(self) -> str:
        """The place of the record, and its key."""
        return record_place(self.stream, self.partition, self.offset, self.key)

    @property
    def summary(self) -> str:
        """The reason, without the traceback that it may have."""
        return redacted(self.reason.partition("\n")[0])

    def sample(self, *, with_content: bool) -> RejectionSample:
        """The record as the page of the app shows it."""
        key, value = (self.key, self.value) if with_content else (None, None)
        return RejectionSample(
            declared_stream(self.stream),
            self.partition,
            self.offset,
            bounded(self.summary),
            _shown(key),
            _shown(value),
        )


@dataclass(frozen=True, slots=True)
class SideOutputStream:
    """The stream that takes them."""

    stream: str
    partitions: int
    partitioner: PartitionerName = DEFAULT_PARTITIONER


def dead_letters(bad: Sequence[RejectedRecord]) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Their keys, values and headers."""
    keys = pa.array([record.key for record in bad], pa.binary())
    values = pa.array([_letter(record) for record in bad], pa.binary())
    return keys, values, pa.array([_headers(record) for record in bad], HEADERS.type)


def _letter(record: RejectedRecord) -> bytes:
    document = {field: getattr(record, field) for field in REFUSAL_FIELDS}
    document |= {"key": _text(record.key), "value": _text(record.value)}
    return json.dumps(document, ensure_ascii=False).encode()


def _headers(record: RejectedRecord) -> list[dict[str, Any]]:
    fields = ((field, getattr(record, field)) for field in REFUSAL_FIELDS)
    own = [
        {"name": f"streamapp.{field}", "value": None if value is None else str(value).encode()}
        for field, value in fields
    ]
    return [*(record.headers or ()), *own]


def _shown(content: bytes | None) -> str | None:
    """The beginning of a content, without values of Secrets: these are looked for before it is cut."""
    return None if content is None else bounded(redacted(content.decode(errors="replace")))


def _text(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode()
