"""The import of a table that an app reads: its rows are written into a stream of the home.

It is the outbox turned round. Chunks of rows are transactions, and what makes them the app's input is one
entry of the checkpoint stream. An import that did not come so far is begun again, and its rows are deleted
first: so a stream has the rows of one version of its table, whatever reads it, and from wherever.

Of a table that is refreshed later versions follow while the app runs. Each ends in every partition by a
record that says so, or that says that it is abandoned.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from streamapp.author.app_streams import imports
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.streams import Stream
from streamapp.tasks.partition import OffsetSpan
from streamapp_runtime.checkpoint_entries import IMPORTS
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import DRIVER_WRITER, CheckpointStream
from streamapp_runtime.driver.checkpoints.delivery_target import sink_table
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.driver.imports.imported_table import ImportedTable, imported_tables, imports_document
from streamapp_runtime.driver.imports.table_records import HistoryPositions, chunks, end_record, table_records
from streamapp_runtime.key_partitioning import by_partition, partition_of
from streamapp_runtime.lanes.records.version_end import IMPORT_ABANDONED, IMPORT_ENDED
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import TableConnection, open_source
from streamapp_runtime.systems.sources.table_source import TableSnapshot, TableSource
from streamapp_runtime.systems.stream_system import (
    InvalidSettingsError,
    RecordRefusedError,
    UnavailableError,
    UnknownStreamError,
    create_or_grow,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

DELETE_SECONDS: Final = 60.0
"""How long it may take until the rows of an abandoned import are deleted."""
_PAUSE_SECONDS: Final = 0.1
IMPORT_WRITER: Final = "imports"
"""The writer of imports while the app runs."""


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """The rows of a table that are imported so far."""

    stream: str
    rows: int
    ended: bool = False


def no_listener(_: ImportProgress) -> None:
    """Tell nobody."""


def import_tables(
    app: StreamApp,
    systems: Systems,
    ledger: CheckpointStream,
    import_progressed: Callable[[ImportProgress], None] = no_listener,
) -> None:
    """Import each table that the app reads, unless that is done.

    AppRefusedError where one has not the declared columns; UnavailableError where it cannot be read now.
    `import_progressed` is called after each chunk, and may end the import by an error of its own.
    """
    done, topics = imported_tables(ledger), imports(app)
    for name in systems.connections.imports:
        stream, topic, known = app.spec.stream(name), topics[name], done.get(name)
        place = f"spec.streams[{app.spec.streams.index(stream)}]"
        if known is not None and known.identity == systems.home.identities([topic]).get(topic):
            if known.source != _source(stream):
                message = "the table was imported with other columns, another key, or without or with refresh"
                message = f"{message}; raise resetNonce to import it again"
                raise AppRefusedError([Problem(0, 0, f"{place}.columns", message)])
            continue
        try:
            if stream.refresh is not None:
                ledger.expect({IMPORT_WRITER})
            done[name] = TableImport(app, stream, topic, systems, ledger, import_progressed).first(place)
        except RecordRefusedError as error:
            raise FinalFailureError(f'"{name}" cannot be imported: {error}') from None
        crash_point("import.before")
        ledger.record(IMPORTS, imports_document(done))
        crash_point("import.after")


def _source(stream: Stream) -> str:
    """The parts of a declaration that decide what is imported, and into which partitions."""
    parts = (stream.system, stream.topic or stream.name, stream.columns, stream.key or "", stream.partitioner)
    return " | ".join(map(str, parts if stream.refresh is None else (*parts, "refreshed")))


@dataclass(frozen=True, slots=True)
class TableImport:
    """One import, from the beginning of its table to the end."""

    app: StreamApp
    stream: Stream
    topic: str  # in the home
    systems: Systems
    ledger: CheckpointStream
    import_progressed: Callable[[ImportProgress], None]
    writer: str = DRIVER_WRITER

    def first(self, place: str) -> ImportedTable:
        """Write all rows; nothing of them is read before the import is recorded."""
        with closing(self._source()) as source:
            version = self._newest(source, place)
            if version.misfits:
                columns = f"{place}.columns"
                raise AppRefusedError([Problem(0, 0, columns, each) for each in version.misfits])
            partitions = self._made(place)
            self._empty(partitions)
            return self._written(version, partitions)

    def newer(self, known: ImportedTable, *, abandons: bool) -> ImportedTable | None:
        """Write the rows of a version that is not the known one; None where the table has no other.

        `abandons` is whether an import before this one may have left rows. The failures are those of systems.
        """
        with closing(self._source()) as source:
            version = source.newest(sink_table(self.app, self.stream.name))
            if version.name and version.name == known.version:
                return None
            if version.misfits:
                raise RecordRefusedError("; ".join(version.misfits))
            partitions = [TopicPartition(self.topic, index) for index in range(len(known.spans))]
            if abandons:
                self._end(partitions, IMPORT_ABANDONED)
            return self._written(version, partitions)

    def _source(self) -> TableSource:
        connection = self.systems.connections.by_name[self.stream.system]
        if not isinstance(connection, TableConnection):
            raise TypeError("an import is of a table")
        return open_source(connection)

    def _newest(self, source: TableSource, place: str) -> TableSnapshot:
        try:
            return source.newest(sink_table(self.app, self.stream.name))
        except UnknownStreamError as error:
            raise AppRefusedError([Problem(0, 0, f"{place}.topic", f"{error}; correct topic")]) from None
        except InvalidSettingsError as error:
            raise AppRefusedError([Problem(0, 0, f"{place}.system", str(error))]) from None

    def _written(self, version: TableSnapshot, partitions: list[TopicPartition]) -> ImportedTable:
        home, rows = self.systems.home, 0
        before = home.spans(partitions)
        positions = HistoryPositions.of(self.app, self.stream.name)
        for records in chunks(table_records(self.stream, version, positions)):
            places = partition_of(
                records.column("key"), len(partitions), rows, partitioner=self.stream.partitioner
            )
            self._append({partitions[index]: part for index, part in by_partition(records, places)})
            rows += len(records)
            crash_point("import.chunk")
            self.import_progressed(ImportProgress(self.stream.name, rows))
        if self.stream.refresh is not None:
            self._end(partitions, IMPORT_ENDED)
        self.import_progressed(ImportProgress(self.stream.name, rows, ended=True))
        after = home.spans(partitions)
        identity = home.identities([self.topic])[self.topic]
        spans = tuple(OffsetSpan(before[one].end, after[one].end) for one in partitions)
        continues_at = {} if positions is None else positions.next_offsets
        return ImportedTable(_source(self.stream), version.name, identity, spans, continues_at)

    def _end(self, partitions: list[TopicPartition], sign: bytes) -> None:
        """End a version in all partitions, at once: so their ends are the same everywhere."""
        self._append(dict.fromkeys(partitions, end_record(sign)))

    def _append(self, records: Mapping[TopicPartition, pa.RecordBatch]) -> None:
        ledger = self.ledger
        transaction = self.systems.home.begin(ledger.stream, ledger.incarnation, None, self.writer)
        try:
            for partition, part in records.items():
                transaction.append(partition, part)
            transaction.commit()
        except BaseException:
            transaction.abort()
            raise

    def _made(self, place: str) -> list[TopicPartition]:
        """The partitions of the stream, which is made or grown."""
        count = self.stream.partitions or 1
        existing_count = create_or_grow(self.systems.home, self.topic, count)
        if existing_count > count:
            message = f'the stream "{self.topic}" has {existing_count} partitions already; say as many'
            raise AppRefusedError([Problem(0, 0, f"{place}.partitions", f"{message}, or delete it")])
        return [TopicPartition(self.topic, index) for index in range(count)]

    def _empty(self, partitions: list[TopicPartition]) -> None:
        """Delete what an import has left that was abandoned, or one of a state that was given up."""
        home, until = self.systems.home, time.monotonic() + DELETE_SECONDS
        left = {one: span.end for one, span in home.spans(partitions).items() if span.oldest < span.end}
        while left:
            home.delete_before(left)
            left = {one: left[one] for one, span in home.spans(left).items() if span.oldest < left[one]}
            if left and time.monotonic() > until:
                raise UnavailableError(f"rows of an earlier import are not deleted from {self.topic}")
            if left:
                self.import_progressed(ImportProgress(self.stream.name, 0))
                time.sleep(_PAUSE_SECONDS)
