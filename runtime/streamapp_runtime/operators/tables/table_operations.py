"""The operations on tables, and side inputs."""

from dataclasses import dataclass

from streamapp_runtime.operators.operation import RowOperation


@dataclass(frozen=True, slots=True)
class LookUp(RowOperation):
    """Add a table's columns to each row; position n is the stream's, then come the table's columns."""

    table: str
    keeps_unmatched: bool
    key: int | None  # the BINARY or STRING column to look up; the row's key when None
    chosen: tuple[int, ...]

    def local_tables(self) -> tuple[str, ...]:
        """The table."""
        return (self.table,)


@dataclass(frozen=True, slots=True)
class LookUpRemote(RowOperation):
    """The same with a table that is kept elsewhere: one for all tasks, and nothing of it is in a store."""

    table: str
    keeps_unmatched: bool
    key: int | None
    chosen: tuple[int, ...]

    def remote_tables(self) -> tuple[str, ...]:
        """The table."""
        return (self.table,)


@dataclass(frozen=True, slots=True)
class WriteTable(RowOperation):
    """Put rows into a table under their keys; a row that is a tombstone deletes."""

    table: str
    chosen: tuple[int, ...]  # in the order of the table's columns

    def local_tables(self) -> tuple[str, ...]:
        """The table."""
        return (self.table,)


@dataclass(frozen=True, slots=True)
class FillTable(RowOperation):
    """Fill a table from a stream that is read for that."""

    table: str
    stream: str
    bootstrap: bool
    chosen: tuple[int, ...]

    def local_tables(self) -> tuple[str, ...]:
        """The table."""
        return (self.table,)
