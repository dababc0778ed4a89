"""The figures of apps at one moment, as `streamapp top` shows them."""

from dataclasses import dataclass
from typing import Protocol

from streamapp.protocol.page_wait import Wait


@dataclass(frozen=True, slots=True)
class StreamFigures:
    """One stream of an app."""

    name: str
    role: str
    partitions: int | None
    rows_in: float | None  # a second; None where the app does not read it
    rows_out: float | None
    lag: int | None
    behind: float | None  # seconds of the watermark behind the clock


@dataclass(frozen=True, slots=True)
class TableFigures:
    """One table, or the state of one operator."""

    name: str
    kind: str
    entries: int | None  # None where its stores are not on the driver's machine
    size: int | None  # bytes


@dataclass(frozen=True, slots=True)
class TaskFigures:
    """One task."""

    name: str
    processor: str
    location: str
    state: str
    why: str
    partitions: tuple[str, ...]
    rows_in: float | None  # a second; None before it has read for some seconds
    lag: int | None  # None before the first batch


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The figures of a run, as its driver's page says them."""

    app: str
    state: str
    processors: int
    rows_in: float | None  # a second, without what the app writes and reads between its stages
    rows_out: float | None
    lag: int | None  # None before the first batch
    behind: float | None  # seconds of the slowest watermark behind the clock
    age: float  # seconds since the driver's loop made its last point
    streams: tuple[StreamFigures, ...]
    tables: tuple[TableFigures, ...]
    tasks: tuple[TaskFigures, ...]
    waits: tuple[Wait, ...]  # what the app waits for and what holds it back


@dataclass(frozen=True, slots=True)
class AppFigures:
    """One app. What is not known is None."""

    name: str
    namespace: str | None  # None for an app on this machine
    phase: str
    ready: str | None = None
    generation: int | None = None
    accepted_generation: int | None = None
    processors: int | None = None
    tasks: int | None = None
    rows_in: float | None = None  # a second, as in RunFigures
    rows_out: float | None = None
    lag: int | None = None
    lag_is_bound: bool = False  # the lag is the next power of two, as drivers report it
    behind: float | None = None
    restarts: int | None = None
    age: float | None = None  # seconds since the driver's last report
    run: RunFigures | None = None  # what its page says; None where no page answered


@dataclass(frozen=True, slots=True)
class FiguresReading:
    """The figures that were read at one moment."""

    apps: tuple[AppFigures, ...]
    notices: tuple[str, ...] = ()  # what could not be read, and why


class FiguresSource(Protocol):
    """A source of figures that is read again and again. What cannot be read at all is a ClickException."""

    def read(self) -> FiguresReading:
        """The figures of now."""

    def close(self) -> None:
        """Give up connections."""
