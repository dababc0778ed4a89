"""Records that are left out: for which cause, how many so far, and for what reasons."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Final

from streamapp_runtime.lanes.protocol.sent_values import sent_list, sent_number, sent_object, sent_text

MOST_REASONS: Final = 20
"""So many different reasons are told apart, of a task in a batch and of a run; others are one."""
OTHER_REASONS: Final = "other reasons"
LONGEST_KEY: Final = 60
"""So many characters of a record's key are shown."""
MOST_SAMPLES: Final = 3
"""So many records of a task are shown of those that are left out in a batch."""
LONGEST_SAMPLE: Final = 200
"""So many characters of a sample's reason, key and value are shown."""


def record_place(stream: str, partition: int, offset: int, key: bytes | None) -> str:
    """The place of a record, and the key that it has: `views#0 at offset 12, key "ann"`."""
    place = f"{stream}#{partition} at offset {offset}"
    if key is None:
        return place
    text = key.decode(errors="replace")
    shown = text if len(text) <= LONGEST_KEY else f"{text[:LONGEST_KEY]}..."
    return f"{place}, key {json.dumps(shown, ensure_ascii=False)}"


def bounded(text: str) -> str:
    """The beginning of a text, as far as a sample shows it."""
    return text if len(text) <= LONGEST_SAMPLE else f"{text[:LONGEST_SAMPLE]}..."


@dataclass(frozen=True, slots=True)
class RejectionSample:
    """One of the records that are left out; key and value only where the page of the app shows values."""

    stream: str
    partition: int
    offset: int
    reason: str
    key: str | None = None
    value: str | None = None

    @classmethod
    def parse(cls, fields: object) -> "RejectionSample":
        """As it was sent, as a list."""
        stream, partition, offset, reason, key, value = sent_list(fields)
        shown_key, shown_value = (None if one is None else sent_text(one) for one in (key, value))
        return cls(
            sent_text(stream),
            sent_number(partition),
            sent_number(offset),
            sent_text(reason),
            key=shown_key,
            value=shown_value,
        )


class RejectionCause(StrEnum):
    """The cause for which a record is left out: the record itself, or the app's own code."""

    RECORD = "record"
    """The record cannot be decoded, or an expression fails on what it holds."""
    CODE = "code"
    """The app's own Python fails on it."""


@dataclass(frozen=True, slots=True)
class RejectionCount:
    """The count of a partition's records left out for a cause, as far as later batches go on counting."""

    cause: RejectionCause
    stream: str
    partition: int
    window: int = 0  # the last window in which one was left out
    records: int = 0  # so many in that window
    in_a_row: int = 0  # so many at the end of what was read

    @property
    def subject(self) -> tuple[RejectionCause, str, int]:
        """The cause, stream and partition of the count."""
        return self.cause, self.stream, self.partition

    @classmethod
    def parse(cls, fields: object) -> "RejectionCount":
        """As it was sent, as a list."""
        cause, stream, *numbers = sent_list(fields)
        return cls(RejectionCause(cause), sent_text(stream), *map(sent_number, numbers))


def merged_reasons(
    before: Mapping[tuple[str, str], int], more: Mapping[tuple[str, str], int]
) -> Counter[tuple[str, str]]:
    """The number of records that were left out in all, by stream and reason."""
    merged = Counter(before)
    for (stream, reason), number in more.items():
        known = (stream, reason) in merged or len(merged) < MOST_REASONS
        merged[stream, reason if known else OTHER_REASONS] += number
    return merged


@dataclass(slots=True)
class RejectionReport:
    """The records that were left out for one task in one batch."""

    counts: list[RejectionCount] = field(default_factory=list)
    reasons: Mapping[tuple[str, str], int] = field(default_factory=dict)  # by stream and reason
    samples: list[RejectionSample] = field(default_factory=list)

    def note(self, stream: str, reasons: Iterable[str]) -> None:
        """Count records of a stream by the reasons for which they are left out."""
        self.reasons = merged_reasons(self.reasons, Counter((stream, reason) for reason in reasons))

    def sample(self, samples: Iterable[RejectionSample]) -> None:
        """Take samples, as many as there is room for; the others are not made."""
        self.samples += islice(samples, MOST_SAMPLES - len(self.samples))

    def add(self, other: "RejectionReport") -> None:
        """Take in what another range has of the same task."""
        self.counts += other.counts
        self.reasons = merged_reasons(self.reasons, other.reasons)
        self.sample(iter(other.samples))

    def fields(self) -> dict[str, list[list[object]]]:
        """As it travels in JSON; empty where nothing is to be said."""
        if not self.counts and not self.reasons and not self.samples:
            return {}
        samples: list[list[object]] = [
            [one.stream, one.partition, one.offset, one.reason, one.key, one.value] for one in self.samples
        ]
        return {
            "counts": [
                [one.cause, one.stream, one.partition, one.window, one.records, one.in_a_row]
                for one in self.counts
            ],
            "reasons": [[stream, reason, number] for (stream, reason), number in self.reasons.items()],
            **({"samples": samples} if samples else {}),
        }

    @classmethod
    def parse(cls, fields: object) -> "RejectionReport":
        """As it was sent."""
        counts, reasons, samples = (sent_list(sent_object(fields).get(name, [])) for name in _FIELDS)
        numbers = {(sent_text(s), sent_text(why)): sent_number(number) for s, why, number in reasons}
        return cls(
            [RejectionCount.parse(one) for one in counts],
            numbers,
            [RejectionSample.parse(one) for one in samples],
        )


_FIELDS: Final = ("counts", "reasons", "samples")
