"""The record of an import that is complete: without it the rows of a table are read by nobody."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamapp.tasks.partition import OffsetSpan
from streamapp_runtime.checkpoint_entries import IMPORTS
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.systems.connection import SystemConnections


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """An import that is complete."""

    source: str  # the table and its columns, as they were declared
    version: str  # of the table, as its system calls it; empty where it has none
    identity: str  # of the stream that has the rows
    spans: tuple[OffsetSpan, ...]  # the rows of each of its partitions
    continues_at: Mapping[int, int] = field(default_factory=dict)
    """The next record of each partition of the topic whose history it is, where its rows say it."""

    def document(self) -> dict[str, object]:
        """The import as it is recorded."""
        spans = [[span.oldest, span.end] for span in self.spans]
        fields = {"source": self.source, "version": self.version, "identity": self.identity, "spans": spans}
        starts = {str(index): offset for index, offset in sorted(self.continues_at.items())}
        return fields | ({"continuesAt": starts} if starts else {})

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> "ImportedTable":
        """The import in a document."""
        spans = tuple(OffsetSpan(int(oldest), int(end)) for oldest, end in fields["spans"])
        starts = {int(index): int(offset) for index, offset in fields.get("continuesAt", {}).items()}
        return cls(str(fields["source"]), str(fields["version"]), str(fields["identity"]), spans, starts)


def imported_tables(ledger: CheckpointStream) -> dict[str, ImportedTable]:
    """The imports that are complete, by stream."""
    return IMPORTS.read(ledger.entries, ledger.stream, parse_imports) or {}


def pending_imports(connections: SystemConnections, ledger: CheckpointStream) -> frozenset[str]:
    """The streams whose tables are not imported yet."""
    return frozenset(connections.imports.keys() - imported_tables(ledger).keys())


def imports_document(tables: Mapping[str, ImportedTable]) -> dict[str, object]:
    """The entry of these imports, by stream."""
    return {"tables": {stream: table.document() for stream, table in tables.items()}}


def parse_imports(document: Any) -> dict[str, ImportedTable]:
    """The imports of an entry."""
    return {str(stream): ImportedTable.parse(fields) for stream, fields in document["tables"].items()}
