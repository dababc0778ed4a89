"""What a soaked app writes, read as it is committed, and compared with what follows from its input."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, TopicPartition

from tests.harness.kafka.clients import QUIET
from tests.harness.soak.soak_rows import CLICK_EVERY, SoakRows, country_of, user_of

OUTPUTS: Final = ("enriched", "totals", "pairs", "windows")
_MOST_DIFFERENCES: Final = 20


@dataclass(slots=True)
class SoakOutputs:
    """All rows that were read so far, as far as a comparison needs them."""

    address: str
    partitions: int
    rows: SoakRows
    enriched: Counter[int] = field(default_factory=Counter)
    pairs: Counter[int] = field(default_factory=Counter)
    totals: dict[str, tuple[int, int]] = field(default_factory=dict)  # by user the last one
    windows: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    _latencies: list[float] = field(default_factory=list)  # milliseconds, since they were taken last
    _differences: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watch(self, ended: threading.Event) -> None:
        """Read as long as the soak goes on; for a thread of its own."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": "soak",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 20,
                **QUIET,
            }
        )
        consumer.assign(
            [TopicPartition(name, index, 0) for name in OUTPUTS for index in range(self.partitions)]
        )
        take: dict[str, Callable[[dict[str, Any]], None]] = {
            "enriched": self._take_enriched,
            "totals": self._take_total,
            "pairs": self._take_pair,
            "windows": self._take_window,
        }
        try:
            while not ended.is_set():
                messages = consumer.consume(5_000, 0.05)
                with self._lock:
                    for message in messages:
                        error = message.error()
                        if error is None:
                            take[str(message.topic())](json.loads(message.value() or b"null"))
                        elif error.code() != KafkaError._PARTITION_EOF and not error.retriable():
                            self._differ(f"an output cannot be read: {error}")
        finally:
            consumer.close()

    def latencies(self) -> list[float]:
        """How old views were that came since this was asked last, in milliseconds and in order."""
        with self._lock:
            taken, self._latencies = self._latencies, []
        return sorted(taken)

    @property
    def count(self) -> int:
        """How many views have come out."""
        return self.enriched.total()

    def complete(self, count: int) -> bool:
        """Whether nothing is missing of what so many views make; windows that stay open are none of it."""
        with self._lock:
            return (
                self.count >= count
                and self.pairs.total() >= -(-count // CLICK_EVERY)
                and sum(views for views, _ in self.totals.values()) >= count
            )

    def differences(self, count: int, closed_ms: int) -> Iterator[str]:
        """All in which outputs are not what follows from so many views.

        Windows that begin before `closed_ms` have to be out.
        """
        with self._lock:
            yield from self._differences
            yield from _counted("enriched", self.enriched, range(count))
            yield from _counted("pairs", self.pairs, range(0, count, CLICK_EVERY))
            totals: dict[str, tuple[int, int]] = {}
            for n in range(count):
                views, total = totals.get(user_of(n), (0, 0))
                totals[user_of(n)] = views + 1, total + n
            yield from (
                f"totals: {user} has {self.totals.get(user)}, not {expected}"
                for user, expected in totals.items()
                if self.totals.get(user) != expected
            )
            windows = self.rows.windows(count)
            yield from (
                f"windows: {key} has {self.windows.get(key)}, not {expected}"
                for key, expected in windows.items()
                if (key in self.windows or key[1] < closed_ms) and self.windows.get(key) != expected
            )
            yield from (f"windows: {key} is none" for key in self.windows.keys() - windows.keys())

    def _take_enriched(self, row: dict[str, Any]) -> None:
        n = row["n"]
        self.enriched[n] += 1
        self._latencies.append(time.time() * 1_000 - self.rows.time_ms(n))
        if row["user"] != user_of(n) or row["country"] != country_of(row["user"]):
            self._differ(f"enriched: {row}")

    def _take_total(self, row: dict[str, Any]) -> None:
        before = self.totals.get(row["user"], (0, 0))
        if row["views"] <= before[0]:
            self._differ(f"totals: {row} came after {before[0]} views")
        self.totals[row["user"]] = row["views"], row["total"]

    def _take_pair(self, row: dict[str, Any]) -> None:
        self.pairs[row["n"]] += 1
        if row["clicked"] != row["n"]:
            self._differ(f"pairs: {row}")

    def _take_window(self, row: dict[str, Any]) -> None:
        start = round(_milliseconds(row["window_start"]))
        key = row["session"], start
        if key in self.windows:
            self._differ(f"windows: {row} came twice")
        self.windows[key] = [row["views"], row["total"]]

    def _differ(self, difference: str) -> None:
        if len(self._differences) < _MOST_DIFFERENCES:
            self._differences.append(difference)


def _counted(stream: str, found: Counter[int], expected: range) -> Iterator[str]:
    """Whether each number is there once."""
    yield from (f"{stream}: {n} came {found[n]} times" for n in expected if found[n] != 1)
    if len(found) > len(expected):
        yield f"{stream}: {len(found) - len(expected)} rows are of no view"


def _milliseconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() * 1_000
