"""Filling and joining take turns where joins see what comes in their own batch, and lanes share one store.

A version of such a store is a copy that is made at the end of a batch. So what fills it has a batch of its
own: rows of the location wait for the version, and the batch after that is theirs.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange


@dataclass(frozen=True, slots=True)
class TurnTakingStore:
    """A store that takes turns: what fills it, and the tasks whose rows see it."""

    partitions: frozenset[Partition]
    seen_by: frozenset[str]


@dataclass(frozen=True, slots=True)
class FillTurn:
    """The ranges that may be read in one batch."""

    ranges: tuple[PendingRange, ...]
    waiting: frozenset[str] = frozenset()  # tasks whose rows wait, since it is the turn of their tables
    filling: frozenset[str] = frozenset()  # the tasks in whose name tables are filled in it


def fill_turn(
    readable: Sequence[PendingRange],
    stores: Mapping[str, TurnTakingStore],
    side: Collection[str],
    waiting: Collection[str],
    last: Collection[str],
) -> FillTurn:
    """Whose turn it is, by store; `stores` go by the task in whose name they are filled.

    `side` are the streams that fill tables, `waiting` the tasks whose rows wait anyway, `last` those that
    filled in the batch before. A store has its turn whenever there is something for it, but not twice in a
    row while rows could go on.
    """
    rows = {d.task for d in readable if d.partition.stream not in side} - set(waiting)
    asking = {host for host, store in stores.items() if _asks(host, store, readable)}
    filling = {host for host in asking if host not in last or not rows & stores[host].seen_by}
    put_off = asking - filling
    ranges = (r for r in readable if r.task not in put_off or r.partition not in stores[r.task].partitions)
    seen_by = (stores[host].seen_by for host in filling)
    return FillTurn(tuple(ranges), frozenset().union(*seen_by), frozenset(filling))


def _asks(host: str, store: TurnTakingStore, readable: Iterable[PendingRange]) -> bool:
    return any(d.task == host and d.partition in store.partitions for d in readable)
