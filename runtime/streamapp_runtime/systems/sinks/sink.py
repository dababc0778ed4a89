"""The interface of every sink, and the values it speaks in.

A sink keeps numbers beside its tables: positions up to which it has the rows of outboxes, and the incarnation
of who may add to them. A commit names the numbers that it rests on. They are compared within the transaction
that writes rows and new numbers, so that of two committers one is refused, whenever the other commits.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import pyarrow as pa

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.systems.stream_system import FencedError, SystemTrouble

SILENT_SECONDS: Final = 5.0
"""How long a call may last before it is trouble."""


def silence(name: str, since: float | None) -> SystemTrouble | None:
    """The trouble of a server whose call has lasted since then; None where none lasts for long."""
    now = time.monotonic()
    if since is None or now - since < SILENT_SECONDS:
        return None
    return SystemTrouble(f"{name} has not answered for {now - since:.0f} s", now)


@dataclass(frozen=True, slots=True)
class SinkTable:
    """A table as the app declares it: its name in the sink, its columns, and how its rows are told apart."""

    name: str
    columns: tuple[Column, ...]
    schema: pa.Schema  # of these columns
    primary_key: tuple[str, ...] = ()  # empty: each row is one more
    key: str | None = None  # the column that the keys of records are

    @property
    def required(self) -> frozenset[str]:
        """The columns that have a value in each row."""
        return frozenset(self.primary_key) | {column.name for column in self.columns if not column.nullable}

    def addable(self, present: Collection[str]) -> tuple[str, ...]:
        """The columns that a table with those present may be given.

        None of the primary key, of which the rows that are there have no value; and none whose name differs
        from one that is there by letter case alone, which many readers do not tell apart.
        """
        spellings = {name.lower() for name in present} | {name.lower() for name in self.primary_key}
        return tuple(column.name for column in self.columns if column.name.lower() not in spellings)

    def without(self, names: Collection[str]) -> "SinkTable":
        """The table as it would be declared without some of its columns."""
        columns = tuple(column for column in self.columns if column.name not in names)
        schema = pa.schema(self.schema.field(column.name) for column in columns)
        return replace(self, columns=columns, schema=schema)

    def missing(self, name: str, present: Collection[str], statement: str) -> str:
        """The reason why a table without one of the columns is refused; the statement adds the column."""
        if name in self.addable(present):
            return f'"{name}" is missing in the table; say evolve: add, or {statement}'
        spelled = next((other for other in present if other.lower() == name.lower()), None)
        if spelled is not None:
            return f'"{name}" is "{spelled}" in the table; spell it so in columns'
        return f'"{name}" of the primary key is missing in the table; {statement}, or change primaryKey'


@dataclass(frozen=True, slots=True)
class TableChange:
    """The rows that a table gets, and the keys whose rows it loses. No key is in both, or twice in one."""

    table: SinkTable
    rows: pa.Table
    deleted: pa.Array  # values of the only column of the primary key


@dataclass(frozen=True, slots=True)
class SinkCommit:
    """The parts of one transaction."""

    owner: str  # of the numbers
    expected: Mapping[str, int | None]  # of its numbers as they have to be; None: not there
    numbers: Mapping[str, int]  # as they are from then on
    changes: tuple[TableChange, ...] = field(default=())

    def compare(self, numbers: Mapping[str, int]) -> None:
        """FencedError where the numbers are not those that the transaction rests on.

        StateUnreadableError where they were deleted: no other driver does that.
        """
        for name, number in self.expected.items():
            if (present := numbers.get(name)) is None and number is not None:
                raise StateUnreadableError(f'"{name}" of "{self.owner}" was deleted while the app ran')
            if present != number:
                other = f'"{name}" of "{self.owner}" is {present}, and not {number}'
                raise FencedError(f"{other}: it was written since")


class Sink(Protocol):
    """A system of tables. One object per process; used by one thread at a time."""

    def prepare(self, table: SinkTable) -> tuple[str, ...]:
        """Why the table cannot take the rows of those columns, each reason with a fix.

        It may be created, or be given columns. Before anything else is asked of the table.
        """

    def numbers(self, owner: str, names: Collection[str]) -> dict[str, int]:
        """Those of the owner's numbers that are there, as of the last commit."""

    def commit(self, commit: SinkCommit) -> None:
        """Do all of it, or nothing. FencedError where the expected numbers are others at that moment.

        RecordRefusedError where the table does not take a row, however often it is asked. UnavailableError
        where trying again may help; then all of it may have been done as well.
        """

    def forgetting(self, owner: str) -> str:
        """The advice how to forget the owner's numbers, after which everything is delivered again."""

    def trouble(self) -> SystemTrouble | None:
        """The trouble that a call waits for; None where none. Any thread may ask."""

    def interrupt(self) -> None:
        """End a call that another thread waits for; it fails with an UnavailableError."""

    def close(self) -> None:
        """Let go of everything."""
