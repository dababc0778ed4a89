"""The interface that a transaction needs of whatever brings records to the brokers."""

from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

from streamapp.tasks.partition import Partition


class RecordProducer(Protocol):
    """Writes transactions under one name, or without one. What it raises are errors of `systems.system`.

    Without a name nothing is held back: to commit is to wait until brokers have everything.

    After an error it is of no more use, but to be closed; what is open then is voided by whoever takes over
    its name.
    """

    @property
    def has_repeated_end(self) -> bool:
        """True if the end of a transaction was asked for again, so that an earlier request may yet arrive.

        It would end the next transaction of the same epoch.
        """

    def initialise(self) -> None:
        """Take over the name: whoever had it is fenced, and what it had open is void."""

    def append(self, partition: Partition, records: pa.RecordBatch) -> None:
        """Add records (schema RECORDS, all with a time) to the end of a partition."""

    def flush(self) -> Mapping[Partition, int]:
        """Return when the brokers have everything: the offset after the last record of each partition."""

    def commit(self) -> Mapping[Partition, int]:
        """Make everything visible; gives where what was written to each partition ends."""

    def abort(self) -> None:
        """Drop everything."""

    def close(self) -> None:
        """Let go of all connections."""
