"""The import of a table that an app reads: its rows are written into a stream of the home, once.

It is the outbox turned round. Chunks of rows are transactions, and what makes them the app's input is one
entry of the checkpoint stream. An import that did not come so far is begun again, and its rows are deleted
first: so a stream has the rows of one version of its table, whatever reads it, and from wherever.
"""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from streamapp.author.app_streams import imports
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.streams import Stream
from streamapp_runtime.checkpoint_entries import IMPORTS
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import DRIVER_WRITER, CheckpointStream
from streamapp_runtime.driver.checkpoints.delivery_target import sink_table
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.driver.imports.imported_table import ImportedTable, imported_tables
from streamapp_runtime.driver.imports.table_records import chunks, table_records
from streamapp_runtime.key_partitioning import by_partition, partition_of
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
                message = "the table was imported with other columns or another key"
                message = f"{message}; raise resetNonce to import it again"
                raise AppRefusedError([Problem(0, 0, f"{place}.columns", message)])
            continue
        try:
            done[name] = _TableImport(app, stream, topic, systems, ledger, import_progressed).run(place)
        except RecordRefusedError as error:
            raise FinalFailureError(f'"{name}" cannot be imported: {error}') from None
        crash_point("import.before")
        ledger.record(IMPORTS, {"tables": {one: each.document() for one, each in done.items()}})
        crash_point("import.after")


def _source(stream: Stream) -> str:
    """The parts of a declaration that decide what is imported, and into which partitions."""
    parts = (stream.system, stream.topic or stream.name, stream.columns, stream.key or "", stream.partitioner)
    return " | ".join(map(str, parts))


@dataclass(frozen=True, slots=True)
class _TableImport:
    """One import, from the beginning of its table to the end."""

    app: StreamApp
    stream: Stream
    topic: str  # in the home
    systems: Systems
    ledger: CheckpointStream
    import_progressed: Callable[[ImportProgress], None]

    def run(self, place: str) -> ImportedTable:
        """Write all rows; nothing of them is read before the import is recorded."""
        connection = self.systems.connections.by_name[self.stream.system]
        if not isinstance(connection, TableConnection):
            raise TypeError("an import is of a table")
        with closing(open_source(connection)) as source:
            version = self._newest(source, place)
            if version.misfits:
                columns = f"{place}.columns"
                raise AppRefusedError([Problem(0, 0, columns, each) for each in version.misfits])
            return self._written(version, place)

    def _newest(self, source: TableSource, place: str) -> TableSnapshot:
        try:
            return source.newest(sink_table(self.app, self.stream.name))
        except UnknownStreamError as error:
            raise AppRefusedError([Problem(0, 0, f"{place}.topic", f"{error}; correct topic")]) from None
        except InvalidSettingsError as error:
            raise AppRefusedError([Problem(0, 0, f"{place}.system", str(error))]) from None

    def _written(self, version: TableSnapshot, place: str) -> ImportedTable:
        home = self.systems.home
        partitions = self._made(place)
        self._empty(partitions)
        rows = 0
        for records in chunks(table_records(self.stream, version)):
            places = partition_of(
                records.column("key"), len(partitions), rows, partitioner=self.stream.partitioner
            )
            transaction = home.begin(self.ledger.stream, self.ledger.incarnation, None, DRIVER_WRITER)
            try:
                for index, part in by_partition(records, places):
                    transaction.append(partitions[index], part)
                transaction.commit()
            except BaseException:
                transaction.abort()
                raise
            rows += len(records)
            crash_point("import.chunk")
            self.import_progressed(ImportProgress(self.stream.name, rows))
        self.import_progressed(ImportProgress(self.stream.name, rows, ended=True))
        spans = home.spans(partitions)
        identity = home.identities([self.topic])[self.topic]
        of_partitions = tuple(spans[one] for one in partitions)
        return ImportedTable(_source(self.stream), version.name, identity, of_partitions)

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
