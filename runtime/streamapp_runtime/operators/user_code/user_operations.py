"""The operations of the app's own Python on rows."""

from dataclasses import dataclass
from typing import ClassVar, Final

from streamapp_runtime.operators.operation import EventTimeUse, Operation, RowOperation


@dataclass(frozen=True, slots=True)
class ProcessRows(Operation):
    """Run a user's stateful class."""

    state: str
    python: str
    tables: tuple[str, ...]
    remotes: tuple[str, ...] = ()  # tables that are kept elsewhere
    required: tuple[tuple[str, str], ...] = ()  # columns of its tables that are never null, by table

    def own_state(self) -> str | None:
        """A table of its own, where the class has `state_columns`."""
        return self.state

    def local_tables(self) -> tuple[str, ...]:
        """The tables that the class is given."""
        return self.tables

    def remote_tables(self) -> tuple[str, ...]:
        """Those that it asks."""
        return self.remotes

    def event_time_use(self) -> EventTimeUse | None:
        """None: a class sees the times of rows and no watermark."""
        return None


@dataclass(frozen=True, slots=True)
class PythonMap(RowOperation):
    """Run a user's function over whole batches.

    Of `each` row exactly one comes back and has its key; else any number, and their keys are null,
    or what the function says, which it has to for `keyed` ones.
    """

    python: str
    each: bool
    keyed: bool = False
    stream: str | None = None  # that fills a table with the rows, whose keys have to belong to its task

    runs_unread: ClassVar[bool] = False


OWN_CODE_OPERATIONS: Final = (ProcessRows, PythonMap)
"""All of them."""
