"""The state of one transactional id as a coordinator keeps it, in both versions of the protocol.

After Kafka's TransactionCoordinator and TransactionMetadata of 4.0 (KIP-98, KIP-890).
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.memory_kafka.protocol_errors import ProtocolError

LAST_EPOCH = 32_766
"""The last epoch that a client is given; the one after it is for markers alone."""


class TransactionState(Enum):
    EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT = range(6)


_PREPARED = {True: TransactionState.PREPARE_COMMIT, False: TransactionState.PREPARE_ABORT}
_COMPLETE = {True: TransactionState.COMPLETE_COMMIT, False: TransactionState.COMPLETE_ABORT}


@dataclass(slots=True)
class KeptTransaction:
    """Who may write under the name, and how far the transaction is."""

    version: int  # of transactions: 1, or 2, in which each has an epoch of its own
    new_producer: Callable[[], int]
    write_marker: Callable[[TopicPartition, int, int, bool], None]  # producer, epoch, whether it commits
    after: Callable[[float, Callable[[], None]], None]
    delay: Callable[[], float]  # until the next marker is written
    epoch: int = -1
    producer: int = field(init=False)
    former: int = -1  # the producer before this one, whose epochs have come to their end
    state: TransactionState = TransactionState.EMPTY
    partitions: set[TopicPartition] = field(default_factory=set)
    timeout: float = 60.0
    _begun: int = 0

    def __post_init__(self) -> None:
        self.producer = self.new_producer()

    def initialise(self, timeout: float) -> ProtocolError:
        """Have somebody take over the name."""
        if self.state in _PREPARED.values():
            return ProtocolError.CONCURRENT_TRANSACTIONS
        if self.state is TransactionState.ONGOING:
            self._drop()
            return ProtocolError.CONCURRENT_TRANSACTIONS
        if self.epoch >= LAST_EPOCH:
            self.former, self.producer, self.epoch = -1, self.new_producer(), -1
        self.epoch, self.timeout, self.state = self.epoch + 1, timeout, TransactionState.EMPTY
        return ProtocolError.NONE

    def add(self, producer: int, epoch: int, partitions: Collection[TopicPartition]) -> ProtocolError:
        """Have the transaction hold partitions; it begins with the first."""
        if refusal := self._refusal(producer, epoch):
            return refusal
        if self.state in _PREPARED.values():
            return ProtocolError.CONCURRENT_TRANSACTIONS
        if self.state is not TransactionState.ONGOING:
            self.state, self.partitions = TransactionState.ONGOING, set()
            self._begun += 1
            self.after(self.timeout, partial(self._expire, self._begun))
        self.partitions |= set(partitions)
        return ProtocolError.NONE

    def verify(self, producer: int, epoch: int, partition: TopicPartition) -> ProtocolError:
        """Whether a leader may take what is written to a partition."""
        if refusal := self._refusal(producer, epoch):
            return refusal
        if self.state in _PREPARED.values():
            return ProtocolError.CONCURRENT_TRANSACTIONS
        is_held = self.state is TransactionState.ONGOING and partition in self.partitions
        return ProtocolError.NONE if is_held else ProtocolError.TRANSACTION_ABORTABLE

    def end(self, producer: int, epoch: int, *, commits: bool) -> ProtocolError:
        """End the transaction by its client's request."""
        return (self._end if self.version == 1 else self._end_epoch)(producer, epoch, commits)

    def _refusal(self, producer: int, epoch: int) -> ProtocolError:
        """The error of a request that is not of the producer and epoch that own the name."""
        if producer != self.producer:
            return ProtocolError.INVALID_PRODUCER_ID_MAPPING
        return ProtocolError.NONE if epoch == self.epoch else ProtocolError.PRODUCER_FENCED

    def _end(self, producer: int, epoch: int, commits: bool) -> ProtocolError:
        if refusal := self._refusal(producer, epoch):
            return refusal
        if self.state is TransactionState.ONGOING:
            self._prepare(commits)
        elif self.state is _PREPARED[commits]:
            return ProtocolError.CONCURRENT_TRANSACTIONS
        elif self.state is not _COMPLETE[commits]:
            return ProtocolError.INVALID_TXN_STATE
        return ProtocolError.NONE

    def _end_epoch(self, producer: int, epoch: int, commits: bool) -> ProtocolError:
        overflown = (producer, epoch, self.epoch) == (self.former, LAST_EPOCH, 0)
        if producer != self.producer and not overflown:
            return ProtocolError.INVALID_PRODUCER_ID_MAPPING
        again = overflown or epoch == self.epoch - 1
        if self.state in _PREPARED.values():
            valid = again
        elif self.state in _COMPLETE.values():
            valid = again or epoch == self.epoch
        else:
            valid = epoch == self.epoch
        if not valid:
            return ProtocolError.PRODUCER_FENCED
        if self.state is TransactionState.ONGOING:
            self._end_own_epoch(commits)
        elif self.state is _PREPARED[commits]:
            return ProtocolError.CONCURRENT_TRANSACTIONS
        elif again and self.state is _COMPLETE[commits]:
            return ProtocolError.NONE
        elif again or commits or self.state in _PREPARED.values():
            return ProtocolError.INVALID_TXN_STATE
        else:  # an abort of nothing ends an epoch too
            self.partitions = set()
            self._end_own_epoch(commits)
        return ProtocolError.NONE

    @property
    def next_identity(self) -> tuple[int, int]:
        """The producer and epoch of the next transaction, as an EndTxn is answered."""
        if self.epoch > LAST_EPOCH:
            return self.former, 0
        return self.producer, self.epoch

    def _end_own_epoch(self, commits: bool) -> None:
        if self.epoch >= LAST_EPOCH:
            self.former = self.new_producer()  # until the markers are written it is the next one
        self.epoch += 1
        self._prepare(commits)

    def _drop(self) -> None:
        """Abort for another reason than the client's wish: it is fenced by the epoch."""
        if self.version > 1:
            self._end_own_epoch(False)
        else:
            self.epoch += 1
            self._prepare(False)

    def _expire(self, begun: int) -> None:
        if self._begun == begun and self.state is TransactionState.ONGOING:
            self._drop()

    def _prepare(self, commits: bool) -> None:
        self.state = _PREPARED[commits]
        self._write_markers(sorted(self.partitions, key=str), commits)

    def _write_markers(self, left: list[TopicPartition], commits: bool) -> None:
        """Write one marker after the other, and then let the next transaction begin."""
        if left:
            write = partial(self._marked, left, commits)
            self.after(self.delay(), write)
            return
        self.state = _COMPLETE[commits]
        if self.version > 1 and self.epoch > LAST_EPOCH:
            self.producer, self.former, self.epoch = self.former, self.producer, 0

    def _marked(self, left: list[TopicPartition], commits: bool) -> None:
        self.write_marker(left[0], self.producer, self.epoch, commits)
        self._write_markers(left[1:], commits)
