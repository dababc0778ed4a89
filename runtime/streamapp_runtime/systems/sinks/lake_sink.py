"""Tables of a lake: each is a transaction of its own, which rests on the state of the table that was read.

The libraries neither compare numbers nor keep a commit from being moved behind another one. So each attempt
reads the numbers and writes by one and the same state of the table, and the library may not try again: an
attempt fails where anybody has committed since, and the next one reads the numbers of then.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.systems.sinks.sink import SinkCommit, SinkTable, TableChange, silence
from streamapp_runtime.systems.stream_system import SystemTrouble, UnavailableError, UnknownStreamError

MOST_ATTEMPTS: Final = 20
"""So many commits of others in a row may come between."""


class OvertakenError(Exception):
    """Somebody has committed since the state of the table that a commit rests on."""


@dataclass(slots=True)
class LakeSink(ABC):
    """One table of a lake. `prepare` says which, before anything else is asked."""

    create_if_missing: bool = field(default=False, kw_only=True)
    add_columns: bool = field(default=False, kw_only=True)
    _table: SinkTable | None = field(default=None, init=False)
    _since: float | None = field(default=None, init=False)  # since when a call lasts

    def state_of(self, table: SinkTable) -> Any:
        """The newest state of a table that is only read."""
        self._table = table
        return self._newest()

    def prepare(self, table: SinkTable) -> tuple[str, ...]:
        """Why the table cannot take the rows of those columns, each reason with a fix.

        It may be created, or be given columns.
        """
        self._table = table
        try:
            state = self._newest()
        except UnknownStreamError:
            if not self.create_if_missing:
                return (f'there is no table "{table.name}" at {self.address}; say createIfMissing: true',)
            with suppress(OvertakenError), self.calls():  # who was first has made it
                self.create(table)
            state = self._newest()
        if self.add_columns:
            state = self._with_columns(table, state)
        return tuple(self.misfits(table, state))

    def numbers(self, owner: str, names: Collection[str]) -> dict[str, int]:
        """Those of the owner's numbers that are there, as of the last commit."""
        return self.written_numbers(self._newest(), owner, names)

    def commit(self, commit: SinkCommit) -> None:
        """Do all of it, or nothing, by the newest state of the table."""
        for attempt in range(MOST_ATTEMPTS):
            state = self._newest()
            numbers = self.written_numbers(state, commit.owner, {*commit.expected, *commit.numbers})
            if attempt and numbers.items() >= commit.numbers.items():
                return  # it was done, and what failed came after
            commit.compare(numbers)
            crash_point("sink.before")
            changes = [change for change in commit.changes if len(change.rows) or len(change.deleted)]
            try:
                with self.calls():
                    self.write(state, commit.owner, commit.numbers, changes[0] if changes else None)
            except OvertakenError:
                continue
            crash_point("sink.after")
            return
        raise self._outrun()

    def forgetting(self, owner: str) -> str:
        """The advice how to forget the owner's numbers, which stay in the table."""
        return f'name another table, or give the app another applicationId ("{owner}" stays in the table)'

    def interrupt(self) -> None:
        """Nothing: calls of the library end by its own time-outs."""
        return

    def trouble(self) -> SystemTrouble | None:
        """The silence of the lake, where a call has lasted for long."""
        return None if self._since is None else silence(self.address, self._since)

    @property
    def table(self) -> SinkTable:
        """The table as the app declares it."""
        if self._table is None:
            raise RuntimeError("the table is not prepared")
        return self._table

    @property
    @abstractmethod
    def address(self) -> str:
        """The address of the table, for messages."""

    @abstractmethod
    def open(self) -> Any:
        """The newest state of the table; UnknownStreamError where there is no table."""

    @abstractmethod
    def create(self, table: SinkTable) -> None:
        """Make the table; OvertakenError, or nothing, where somebody else was first."""

    @abstractmethod
    def schema(self, state: Any) -> pa.Schema:
        """The columns that a state of the table has, in types of Arrow."""

    @abstractmethod
    def version(self, state: Any) -> str:
        """The name of a state of the table; empty where nothing was written yet."""

    @abstractmethod
    def scan(self, state: Any, names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """The rows of a state of the table, with these of its columns."""

    @abstractmethod
    def add(self, state: Any, columns: pa.Schema) -> None:
        """Give the table columns, which may be null; OvertakenError where the state is not the newest."""

    @abstractmethod
    def misfits(self, table: SinkTable, state: Any) -> Iterator[str]:
        """Why the table cannot take the rows, each reason with a fix."""

    @abstractmethod
    def written_numbers(self, state: Any, owner: str, names: Collection[str]) -> dict[str, int]:
        """Those of the owner's numbers that a state of the table has."""

    @abstractmethod
    def write(self, state: Any, owner: str, numbers: Mapping[str, int], change: TableChange | None) -> None:
        """Commit by this state of the table, once; OvertakenError where it is not the newest any more."""

    @abstractmethod
    def failure(self, error: Exception) -> Exception:
        """The failure of a system that a failure of the library is; of others itself."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""

    def _with_columns(self, table: SinkTable, state: Any) -> Any:
        """The state of the table with the columns that it lacks, unless it is refused for something else."""
        for _ in range(MOST_ATTEMPTS):
            added = table.addable(self.schema(state).names)
            if not added or any(self.misfits(table.without(added), state)):
                return state
            with suppress(OvertakenError), self.calls():
                self.add(state, pa.schema(table.schema.field(name) for name in added))
            state = self._newest()
        raise self._outrun()

    def _outrun(self) -> UnavailableError:
        return UnavailableError(f"{self.address}: {MOST_ATTEMPTS} commits of others came between")

    def _newest(self) -> Any:
        with self.calls():
            return self.open()

    @contextmanager
    def calls(self) -> Iterator[None]:
        """The failures of the library as those of systems."""
        self._since = time.monotonic()
        try:
            yield
        except Exception as error:
            failure = self.failure(error)
            if failure is error:
                raise
            raise failure from None
        finally:
            self._since = None


def written_schema(table: SinkTable) -> pa.Schema:
    """The columns of a table that is made, with those that are never null."""
    return pa.schema([one.with_nullable(one.name not in table.required) for one in table.schema])


def fitted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with all columns of the table, in its types."""
    columns = [
        rows.column(one.name).cast(one.type)
        if one.name in rows.column_names
        else pa.nulls(len(rows), one.type)
        for one in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def misfit_columns(
    table: SinkTable, wanted: Mapping[str, str], there: Mapping[str, tuple[str, bool]]
) -> Iterator[str]:
    """Why a table does not take rows of the declared columns, each with a fix.

    `wanted` has the type of each in the words of the lake, `there` that of each column of the table, and
    whether it may be null.
    """
    for name, kind in wanted.items():
        if name not in there:
            statement = f"ALTER TABLE … ADD COLUMN `{name}` {kind}"
            yield table.missing(name, there, statement)
        elif not _holds(kind, there[name][0]):
            kinds = f"{there[name][0]} in the table, and {kind} here"
            yield f'"{name}" is {kinds}; cast it in a map, and change columns'
        elif name not in table.required and not there[name][1]:
            yield (
                f'"{name}" is NOT NULL in the table and may be null here; declare it NOT NULL, or '
                f"ALTER TABLE … ALTER COLUMN `{name}` DROP NOT NULL"
            )
    for name, (_, is_nullable) in there.items():
        if name not in wanted and not is_nullable:
            yield f'"{name}" of the table is NOT NULL; add it to columns'


_WIDER: Final[Mapping[str, frozenset[str]]] = {
    "byte": frozenset({"short", "integer", "long"}),
    "short": frozenset({"integer", "long"}),
    "integer": frozenset({"long"}),
    "int": frozenset({"long"}),
    "float": frozenset({"double"}),
}
"""The other types that hold each value of a type."""


def _holds(wanted: str, there: str) -> bool:
    """True if a column of the second type holds each value of the first."""
    if wanted.startswith("decimal(") and there.startswith("decimal("):
        (digits, scale), (more, own) = (map(int, kind[8:-1].split(",")) for kind in (wanted, there))
        return own >= scale and more - own >= digits - scale
    return wanted == there or there in _WIDER.get(wanted, ())


def first_line(error: Exception) -> str:
    """The first line of a failure's text."""
    lines = str(error).splitlines()
    return lines[0][:500] if lines else type(error).__name__
