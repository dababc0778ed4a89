"""Records that an app has to set aside, drawn from a seed: the same seed gives the same records in order."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.harness.crash.view_code import DEADLY, RAISING
from tests.harness.crash.view_streams import PARTITIONS, Row, StreamRecord, key_partition, record_of

BAD_SHARE: Final = 0.006
"""Of the records, those that are bad by themselves."""
ENDS: Final = (RAISING, *DEADLY)
FIRST_END, VIEWS_TO_AN_END, MOST_ENDS = 500, 4_000, 16
"""At which views the app's code fails. Each is searched for by halves of its batch, which costs workers."""


def _under_other_key(row: Row, chance: random.Random) -> StreamRecord:
    """Where that other key belongs."""
    return replace(record_of(row), key=f"other-{chance.randrange(1_000)}".encode())


def _in_other_partition(row: Row, chance: random.Random) -> StreamRecord:
    record = record_of(row)
    return replace(
        record, partition=(key_partition(record.key) + chance.randrange(1, PARTITIONS)) % PARTITIONS
    )


def _without_key(row: Row, chance: random.Random) -> StreamRecord:
    """In any partition: where that is the right one by chance, the record is a good one."""
    return replace(record_of(row), key=None, partition=chance.randrange(PARTITIONS))


def _without_user(row: Row, chance: random.Random) -> StreamRecord:
    return StreamRecord(None, _text({**row, "user": None}), chance.randrange(PARTITIONS))


def _with_null(row: Row, chance: random.Random) -> StreamRecord:
    """In a column that must have a value: as a null, or left out."""
    column = chance.choice([name for name in row if name != "user"])
    others = {name: value for name, value in row.items() if name != column}
    return replace(record_of(row), value=_text(chance.choice([{**row, column: None}, others])))


def _undecodable(row: Row, chance: random.Random) -> StreamRecord:
    text, last = _text(row), list(row)[-1]
    values = [b"\xff\xfe" + text, text[:-3], b"", b"[1, 2]", _text({**row, last: ["many"]})]
    return replace(record_of(row), value=chance.choice(values))


FAULTS: Final[tuple[Callable[[Row, random.Random], StreamRecord], ...]] = (
    _under_other_key,
    _in_other_partition,
    _without_key,
    _without_user,
    _with_null,
    _undecodable,
)


@dataclass(slots=True)
class RecordWriter:
    """Makes records of rows, a few of them with a fault."""

    chance: random.Random
    ends: int = 0

    def views(self, rows: Iterable[Row]) -> Iterator[StreamRecord]:
        """Some bad, some at which the app's code fails."""
        for row in rows:
            if self.ends < MOST_ENDS and row["n"] >= FIRST_END + self.ends * VIEWS_TO_AN_END:
                yield record_of({**row, "page": ENDS[self.ends % len(ENDS)]})
                self.ends += 1
            else:
                yield self._maybe_bad(row)

    def users(self, rows: Iterable[Row]) -> Iterator[StreamRecord]:
        """Some bad."""
        return map(self._maybe_bad, rows)

    def _maybe_bad(self, row: Row) -> StreamRecord:
        is_bad = self.chance.random() < BAD_SHARE
        return self.chance.choice(FAULTS)(row, self.chance) if is_bad else record_of(row)


def _text(row: Row) -> bytes:
    return json.dumps(row).encode()
