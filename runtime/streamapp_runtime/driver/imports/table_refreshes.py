"""The refresh of tables that fill tables of an app: a newer version is imported while the app runs.

One thread looks at all of them, with connections of its own. Rows of the app see the version before until the
newer one is imported whole. What cannot be read is tried again, and never holds the app up.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from streamapp.author.app_streams import imports
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.checkpoint_entries import IMPORTS
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.imports.imported_table import ImportedTable, imported_tables, imports_document
from streamapp_runtime.driver.imports.table_import import IMPORT_WRITER, ImportProgress, TableImport
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import SystemConnections
from streamapp_runtime.systems.stream_system import (
    FencedError,
    InvalidSettingsError,
    RecordRefusedError,
    UnavailableError,
    UnknownStreamError,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

RETRY_SECONDS: Final = 10.0
"""How long after a failure a table is looked at again, or sooner where it is refreshed more often."""
LOOK_SECONDS: Final = 0.5
"""How often the clock is looked at."""
CLOSE_SECONDS: Final = 30.0
"""How long the end of a transaction is waited for when the refreshes end."""
RETRIED: Final = (UnavailableError, UnknownStreamError, RecordRefusedError, InvalidSettingsError, OSError)
"""The failures after which a table is looked at again: others write it, and its server."""


class RefreshesEndedError(Exception):
    """The run ends within an import, which is abandoned."""


@dataclass(frozen=True, slots=True)
class RefreshStatus:
    """The imports of one table since the run began, and why the last look at it failed."""

    stream: str
    rows: int = 0  # of the newest version
    versions: int = 0  # that were imported
    failures: int = 0
    trouble: str = ""  # the last failure, until a look goes well


@dataclass(slots=True)
class TableRefreshes:
    """The refreshes of an app. One thread serves them; others read their status."""

    running: Callable[[], tuple[StreamApp, SystemConnections]]  # the app as it runs now
    ledger: CheckpointStream
    clock: Callable[[], float] = time.monotonic
    failure: Exception | None = None  # that trying again does not end
    _statuses: dict[str, RefreshStatus] = field(default_factory=dict)
    _due: dict[str, float] = field(default_factory=dict)
    _settled: set[str] = field(default_factory=set)  # no import of these has left rows
    _systems: Systems | None = None
    _thread: threading.Thread | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def statuses(self) -> tuple[RefreshStatus, ...]:
        """The status of each table that was looked at."""
        return tuple(self._statuses.values())

    def start(self) -> None:
        """Look at tables from now on, on a thread."""
        self._thread = threading.Thread(target=self._serve, name="streamapp-refresh", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End, with the transaction that is under way."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)
        if self._systems is not None:
            self._systems.close()
            self._systems = None

    def look(self) -> None:
        """Import what is newer of the tables that are due. FencedError where another driver runs the app."""
        app, connections = self.running()
        now = self.clock()
        for stream in app.spec.streams:
            if stream.refresh is None or now < self._due.get(stream.name, now):
                continue
            imported = imported_tables(self.ledger).get(stream.name)
            if imported is None:
                continue
            interval = milliseconds(stream.refresh) / 1000
            if stream.name not in self._due and not imported.version:
                self._due[stream.name] = now + interval  # it has no versions, and the start imported it
                continue
            try:
                self._refresh(app, connections, stream.name, imported)
                self._due[stream.name] = self.clock() + interval
            except RETRIED as error:
                status = self._status(stream.name)
                failures = status.failures + 1
                self._statuses[stream.name] = replace(status, failures=failures, trouble=str(error))
                self._due[stream.name] = self.clock() + min(interval, RETRY_SECONDS)

    def _refresh(
        self, app: StreamApp, connections: SystemConnections, name: str, imported: ImportedTable
    ) -> None:
        """Import a newer version of a table; rows of versions before the one that it follows may go."""
        if self._systems is None:
            self._systems = Systems(connections)
        topic, systems, ledger = imports(app)[name], self._systems, self.ledger
        rows, status = 0, self._status(name)

        def note(progress: ImportProgress) -> None:
            nonlocal rows
            if self._stop.is_set():
                raise RefreshesEndedError
            rows = progress.rows

        stream = app.spec.stream(name)
        table = TableImport(app, stream, topic, systems, ledger, note, writer=IMPORT_WRITER)
        abandons, self._settled = name not in self._settled, self._settled - {name}
        newer = table.newer(imported, abandons=abandons)
        if newer is None:
            self._settled |= set() if abandons else {name}
            self._statuses[name] = replace(status, trouble="")
            return
        crash_point("refresh.imported")
        tables = imported_tables(ledger) | {name: newer}
        ledger.record(IMPORTS, imports_document(tables), by=(systems.home, IMPORT_WRITER))
        self._settled |= {name}
        self._statuses[name] = replace(status, rows=rows, versions=status.versions + 1, trouble="")
        oldest = {TopicPartition(topic, index): span.oldest for index, span in enumerate(imported.spans)}
        systems.home.delete_before(oldest)

    def _status(self, stream: str) -> RefreshStatus:
        return self._statuses.get(stream, RefreshStatus(stream))

    def _serve(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            try:
                self.look()
            except (FencedError, RefreshesEndedError):
                return  # another driver of the app refreshes now, or nobody does
            except Exception as error:
                self.failure = error
                return
