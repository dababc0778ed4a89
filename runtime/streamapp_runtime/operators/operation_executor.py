"""What runs one operation: made once in a worker, given the rows of every batch."""

from typing import Protocol

from streamapp.spec.reasons import Reason
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.rows.slice import Slice


class OperationExecutor(Protocol):
    """Runs one operation. A batch may come in several calls; what is kept does not depend on the cuts."""

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """Take rows, one slice for each source, and give what comes of them; None where that is nothing."""

    def settle(self, state: LaneState) -> Slice | None:
        """Do what is due once a batch, when all its rows were taken, for tasks without rows as well."""

    def close(self) -> None:
        """Let go of what was opened."""


class StatelessExecutor:
    """An executor that has nothing to settle and nothing to close."""

    __slots__ = ()

    def settle(self, state: LaneState) -> Slice | None:
        """Nothing is due."""
        return None

    def close(self) -> None:
        """Nothing was opened."""


class UnsupportedOperationError(Exception):
    """An operation that this version cannot run: why, and what would mend it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}; {hint}")
        self.reason = Reason.NOT_YET_SUPPORTED
        self.message = message
        self.hint = hint
