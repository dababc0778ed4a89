"""A transactional producer under one writer's name, and what it takes for the newest checkpoints."""

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.stream_system import FencedError, UnavailableError

_AT_ONCE = 16

MakeProducer = Callable[[str | None], WireProducer]
"""Gives what writes under a transactional id, or without one, not yet initialised."""


@dataclass(slots=True)
class TransactionalWriter:
    """One producer for as long as its transactions go well; after a failure another one starts again."""

    transactional_id: str
    incarnation: int
    producing: WireProducer
    checkpoints: dict[bytes, bytes | None] = field(
        default_factory=dict
    )  # of the keys that this writer writes
    busy: bool = False  # has a transaction that has not ended
    spent: bool = False

    def serves(self, incarnation: int) -> bool:
        """True if another transaction of this incarnation may begin."""
        return not self.spent and not self.busy and self.incarnation == incarnation

    def agrees(self, expected: Iterable[tuple[bytes, bytes | None]]) -> bool:
        """True if what is expected is what this writer itself wrote or read last, as far as it knows."""
        return all(self.checkpoints.get(key, value) == value for key, value in expected)

    def abort(self) -> None:
        """Drop what is open; where that fails, whoever writes next under this name voids it."""
        self.spent = True
        with suppress(FencedError, UnavailableError):
            self.producing.abort()
            self.spent = self.producing.has_repeated_end

    def close(self) -> None:
        """Let go; what is open is voided where the cluster can be reached."""
        if self.busy and not self.spent:
            self.abort()
        self.producing.close()
        self.spent = True


def take_over_writer(make: MakeProducer, transactional_id: str, incarnation: int) -> TransactionalWriter:
    """A writer that took over a name: any other of that name is fenced, and what it had open is void."""
    producing = make(transactional_id)
    try:
        producing.initialise()
    except BaseException:
        producing.close()
        raise
    return TransactionalWriter(transactional_id, incarnation, producing)


def fence_writers(make: MakeProducer, transactional_ids: Collection[str]) -> None:
    """Fence whoever writes under these names, by taking each of them over for a moment."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for done in [pool.submit(_void, make, name) for name in transactional_ids]:
            done.result()


def _void(make: MakeProducer, transactional_id: str) -> None:
    take_over_writer(make, transactional_id, 0).close()
