"""The executor of one operation: made once in a worker, given the rows of every batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from streamapp.spec.reasons import Reason
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.stored_entries import StoredEntries
from streamapp_runtime.rows.slice import Slice


class OperationExecutor(Protocol):
    """Runs one operation. A batch may come in several calls; what is kept does not depend on the cuts."""

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """Take rows, one slice for each source, and give what comes of them; None where that is nothing."""

    def finish_batch(self, state: LaneState) -> Slice | None:
        """Do what is due once a batch, when all its rows were taken, for tasks without rows as well."""

    def close(self) -> None:
        """Let go of what was opened."""


class StatelessExecutor:
    """An executor that has nothing to do once a batch and nothing to close."""

    __slots__ = ()

    def finish_batch(self, state: LaneState) -> Slice | None:
        """Nothing is due."""
        return None

    def close(self) -> None:
        """Nothing was opened."""


class UnsupportedOperationError(Exception):
    """An operation that this version cannot run: why, and what would fix it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.reason = Reason.NOT_YET_SUPPORTED
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class StateForm:
    """The meaning of the bytes of an operation's own state: a store of another must not be read as it."""

    meaning: str  # stores carry the hash of this text: it does not change with the names in the code
    schemas: tuple[pa.Schema, ...]
    entries: StoredEntries  # how people read it; no part of what it means


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRunner:
    """The functions that run the operations of one class.

    Each function takes the operation and the columns of its sources, the first one also those that it makes.
    """

    executor: Callable[[Any, Sequence[pa.Schema], pa.Schema], OperationExecutor]
    state_form: Callable[[Any, Sequence[pa.Schema]], StateForm | None] | None
    """None where it keeps nothing of its own; gives None for an operation that does not."""
    unsupported_reason: Callable[[Any, Sequence[pa.Schema]], str | None] | None = None
    """Why this version cannot run an operation; None where it can run all."""
    hint: str = "leave it out"
    """What fixes that."""


def row_runner(executor: Callable[[Any], OperationExecutor]) -> OperationRunner:
    """For operations that keep nothing, and whose executors need no columns."""
    return OperationRunner(executor=lambda operation, _schemas, _output: executor(operation), state_form=None)
