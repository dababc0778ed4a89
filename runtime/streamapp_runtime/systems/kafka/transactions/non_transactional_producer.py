"""Records that no transaction holds back, for what may be written twice but not be missing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pyarrow as pa

from streamapp_runtime.systems.kafka.transactions.transactional_writer import MakeProducer
from streamapp_runtime.systems.kafka.wire.wire_producer import WireProducer
from streamapp_runtime.systems.stream_system import UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition


@dataclass(slots=True)
class NonTransactionalProducer:
    """One process's producer without a name: what it writes can be read at once, and is never voided.

    Brokers know what they have of it already, so that to send again after a lost connection repeats nothing.
    """

    make: MakeProducer
    _producing: WireProducer | None = None
    _held: bool = False  # whether something was appended that may not be there yet

    def append(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """Give records (schema RECORDS, all with a time) on their way."""
        with self._whole() as producing:
            self._held = True
            producing.append(partition, records)

    def delivered(self) -> Mapping[TopicPartition, int]:
        """Return when brokers have everything: where what was appended to each partition ends."""
        with self._whole() as producing:
            ends = producing.commit()
            self._held = False
            return ends

    def drop(self) -> None:
        """Send nothing more of what was appended; some of it may be there."""
        if self._held:
            self.close()

    def close(self) -> None:
        """Let go of the producer; the next record gets another one."""
        producing, self._producing, self._held = self._producing, None, False
        if producing is not None:
            with suppress(UnavailableError):
                producing.close()

    @contextmanager
    def _whole(self) -> Iterator[WireProducer]:
        """Something that leaves the producer of no more use where it fails."""
        try:
            yield self._producing or self._begun()
        except BaseException:
            self.close()
            raise

    def _begun(self) -> WireProducer:
        self._producing = self.make(None)
        self._producing.initialise()
        return self._producing
