"""Tables of a lake, read by the state of the table that was the newest when the reading began."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from streamapp_runtime.systems.sinks.lake_sink import LakeSink
from streamapp_runtime.systems.sinks.sink import SinkTable
from streamapp_runtime.systems.sources.table_source import TableSnapshot, fitted, misfit_columns
from streamapp_runtime.systems.stream_system import RecordRefusedError, UnavailableError


@dataclass(slots=True)
class LakeSource:
    """One table of a lake."""

    lake: LakeSink

    def newest(self, table: SinkTable) -> TableSnapshot:
        """The newest state of the table."""
        state = self.lake.state_of(table)
        with self.lake.calls():
            version, there = self.lake.version(state), self.lake.schema(state)
        misfits = tuple(misfit_columns(table, there, tells_nulls=True))
        return TableSnapshot(version, misfits, partial(self._batches, table, state))

    def close(self) -> None:
        """Let go of the catalog."""
        self.lake.close()

    def _batches(self, table: SinkTable, state: Any) -> Iterator[pa.RecordBatch]:
        with self._reading():
            batches = iter(self.lake.scan(state, table.schema.names))
        while True:
            with self._reading():
                batch = next(batches, None)
            if batch is None:
                return
            yield fitted(batch, table, self.lake.address)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """The failures of a call that reads: files that cannot be had are invalid ones to the libraries."""
        try:
            with self.lake.calls():
                yield
        except RecordRefusedError as error:
            raise UnavailableError(str(error)) from None
