"""Which records an app has to set aside, and how they lie in its dead-letter streams, in plain Python."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from streamapp_runtime.key_partitioning import partition_of
from tests.harness.crash.view_code import DEADLY, RAISING
from tests.harness.crash.view_streams import PARTITIONS, Row, StreamRecord

COLUMNS: Final[Mapping[str, Mapping[str, type]]] = {
    "views": {"user": str, "page": str, "n": int},
    "users": {"user": str, "country": str},
}
LETTER_FIELDS: Final = ("stream", "partition", "offset", "key", "value")
LETTER_STREAMS: Final = ("letters", "failed")


@dataclass(slots=True)
class RecordModel:
    """The rows of the input, and by dead-letter stream what has to be in it."""

    views: list[Row] = field(default_factory=list)
    letters: dict[str, Counter[str]] = field(
        default_factory=lambda: {stream: Counter() for stream in LETTER_STREAMS}
    )

    @classmethod
    def of(cls, views: Sequence[StreamRecord], users: Sequence[StreamRecord]) -> "RecordModel":
        """What follows from both inputs."""
        model = cls()
        for record, row, _ in judged("views", views):
            if row is None:
                model.letters["letters"][_letter("views", record)] += 1
            elif row["page"] == RAISING or row["page"] in DEADLY:
                model.letters["failed"][_letter("views", record)] += 1
            else:
                model.views.append(row)
        for record, row, misplaced in judged("users", users):
            # Both tables read it. The one that is whole everywhere takes its keys from any partition.
            model.letters["letters"][_letter("users", record)] += (row is None) + (
                row is None and not misplaced
            )
        return model

    def missing(self, letters: Mapping[str, Iterable[Row]]) -> int:
        """How many letters have not been written yet."""
        return sum(
            (expected - Counter(map(_fields, letters[stream]))).total()
            for stream, expected in self.letters.items()
        )

    def differences(self, letters: Mapping[str, Iterable[Row]]) -> Iterator[str]:
        """Everything in which the dead-letter streams are not what they have to be."""
        for stream, expected in self.letters.items():
            written = Counter(map(_fields, letters[stream]))
            yield from (f"not in {stream}: {letter}" for letter in (expected - written).elements())
            yield from (f"too often in {stream}: {letter}" for letter in (written - expected).elements())


def judged(stream: str, records: Sequence[StreamRecord]) -> Iterator[tuple[StreamRecord, Row | None, bool]]:
    """Each record, its row if it is a good one, and whether nothing but its partition is wrong."""
    rows = [_row(COLUMNS[stream], record) for record in records]
    keys = [row["user"].encode() if row else b"" for row in rows]
    places = partition_of(pa.array(keys, pa.binary()), PARTITIONS).tolist()
    for record, row, place in zip(records, rows, places, strict=True):
        is_misplaced = row is not None and place != record.partition
        yield record, None if is_misplaced else row, is_misplaced


def _row(columns: Mapping[str, type], record: StreamRecord) -> dict[str, Any] | None:
    """The row of a record that is what its stream declares, wherever it lies."""
    try:
        row = json.loads(record.value or b"")
    except ValueError:
        return None
    is_whole = isinstance(row, dict) and all(
        isinstance(row.get(name), kind) for name, kind in columns.items()
    )
    if not is_whole or record.key not in {None, row["user"].encode()}:
        return None
    return row


def _letter(stream: str, record: StreamRecord) -> str:
    key, value = (None if part is None else b64encode(part).decode() for part in (record.key, record.value))
    return _fields(
        {"stream": stream, "partition": record.partition, "offset": record.offset, "key": key, "value": value}
    )


def _fields(letter: Row) -> str:
    return json.dumps({name: letter[name] for name in LETTER_FIELDS})
