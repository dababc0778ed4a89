"""Transactions that stay open in streams: no record behind one can be read, and no error says so."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from streamapp.plan.render.wording import listed
from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.app_systems import Systems

LOOK_SECONDS: Final = 10.0
"""How often brokers are asked which transactions are open."""
OWN_PATIENCE_SECONDS: Final = 120.0
"""How long one may be open in a stream that the app itself writes: its own are given a minute by brokers."""
PATIENCE_SECONDS: Final = 300.0
"""How long one of another producer may be open without a word: some commit once in some minutes."""
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """The oldest open transaction of one partition."""

    partition: Partition
    offset: int  # of its first record

    def __str__(self) -> str:
        return f"{self.partition} from offset {self.offset} on"


@dataclass(slots=True)
class OpenTransactionWatch:
    """Notes which transactions have been open for long, of those before which records wait."""

    clock: Callable[[], float] = time.monotonic
    changed: Callable[[tuple[OpenTransaction, ...]], None] = lambda _: None  # called with those that last
    lasting: tuple[OpenTransaction, ...] = ()
    _since: dict[OpenTransaction, float] = field(default_factory=dict)
    _looked_at: float = float("-inf")

    def look(self, systems: Systems, partitions: Collection[Partition], own: Collection[str]) -> None:
        """Ask about partitions, if it is time; `own` are the streams that the app writes."""
        now = self.clock()
        if now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now
        offsets = systems.open_transactions(partitions)
        transactions = (OpenTransaction(partition, offset) for partition, offset in offsets.items())
        self._since = {one: self._since.get(one, now) for one in transactions}
        lasting = (one for one, since in self._since.items() if now - since >= _patience(one, own))
        before = self.lasting
        self.lasting = tuple(sorted(lasting, key=lambda one: (one.partition.stream, one.partition.index)))
        if self.lasting != before:
            self.changed(self.lasting)


def _patience(transaction: OpenTransaction, own: Collection[str]) -> float:
    return OWN_PATIENCE_SECONDS if transaction.partition.stream in own else PATIENCE_SECONDS


def open_transactions_text(transactions: Collection[OpenTransaction]) -> str:
    """The partitions that cannot be read on for these transactions, and what ends one."""
    partitions = listed([str(one) for one in transactions], _MOST_NAMED)
    return (
        f"a transaction has been open for minutes, and no record behind it can be read: {partitions}; brokers"
        " end those of producers that have gone, and `kafka-transactions.sh` finds and ends one that stays"
    )
