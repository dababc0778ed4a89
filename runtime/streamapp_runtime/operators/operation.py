"""The operation of a Python worker on whole batches of rows: a frozen description that answers for itself.

Positions count through the columns of an operation's sources, one after the other, and after those
through what it adds itself. `chosen` lists the positions that make the columns of what it puts out.

Descriptions travel to workers and stay light. What runs them stands in `operators.operation_table`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class EventTimeUse:
    """The use that an operation makes of the watermarks of the streams whose rows reach it."""

    hold_back_ms: int = 0
    """How far behind the watermark it may put out rows that were not late when they came."""
    waits: bool = False
    """Whether some of what it puts out waits until the watermark has passed."""


class Operation(ABC):
    """One step of a worker. Every question has to be answered by each class: none has a default."""

    __slots__ = ()

    runs_unread: ClassVar[bool] = True
    """Whether it runs where nothing reads its rows; else it has no other effect, nor columns to make."""

    @abstractmethod
    def own_state(self) -> str | None:
        """The name of the state of its own, which is its operator's; None where it keeps none."""

    @abstractmethod
    def local_tables(self) -> tuple[str, ...]:
        """The tables whose stores it touches."""

    @abstractmethod
    def remote_tables(self) -> tuple[str, ...]:
        """The tables kept elsewhere that it asks."""

    @abstractmethod
    def event_time_use(self) -> EventTimeUse | None:
        """The use that the operation makes of watermarks; None where time means nothing to it."""


class RowOperation(Operation):
    """An operation that keeps nothing of its own and knows no time. Those on tables say which."""

    __slots__ = ()

    def own_state(self) -> str | None:
        """None."""
        return None

    def local_tables(self) -> tuple[str, ...]:
        """None, unless it says otherwise."""
        return ()

    def remote_tables(self) -> tuple[str, ...]:
        """None, unless it says otherwise."""
        return ()

    def event_time_use(self) -> EventTimeUse | None:
        """None."""
        return None
