"""The description of an aggregate: totals by key, and by window where there is one."""

from dataclasses import dataclass

from streamapp_runtime.operators.operation import EventTimeUse, Operation


@dataclass(frozen=True, slots=True)
class PartialTotal:
    """One state of a total: `count`, `sum`, `min` or `max` of a column; `count` of all rows without one."""

    function: str
    argument: int | None
    type: str
    text: str = ""  # as people write it: `sum(n)`


@dataclass(frozen=True, slots=True)
class Span:
    """The spans of time: `tumbling` and `hopping` have size and advance, a `session` has its gap as size."""

    kind: str
    size_ms: int
    advance_ms: int

    @property
    def meaning(self) -> str:
        """The text with which stores are marked: the words in it stay, whatever the fields are called."""
        return f"Span(kind={self.kind!r}, size_ms={self.size_ms}, advance_ms={self.advance_ms})"


@dataclass(frozen=True, slots=True)
class Totals(Operation):
    """Reduce rows by key, and by window where there is one.

    Positions after the source's columns: first the window's start and end (TIMESTAMP) where there is a
    window, then the partial states. Key columns are those of any row of the key. A composed key is the
    UTF-8 of the JSON object of the key columns, by name, as Spark's `to_json(struct(...))` writes it. Rows
    whose column `placed_by` is null have no key, and lie in any task.
    """

    state: str  # the name of its state: the operator's
    key: tuple[int, ...]
    composed: bool
    partials: tuple[PartialTotal, ...]
    window: Span | None
    emit: str
    lateness_ms: int
    chosen: tuple[int, ...]
    placed_by: int | None = None  # of a composed key

    def own_state(self) -> str | None:
        """The totals."""
        return self.state

    def local_tables(self) -> tuple[str, ...]:
        """None."""
        return ()

    def remote_tables(self) -> tuple[str, ...]:
        """None."""
        return ()

    def event_time_use(self) -> EventTimeUse | None:
        """Windows go by the watermark, and with `onWatermark` they go out by it."""
        session = self.window is not None and self.window.kind == "session"
        return EventTimeUse(
            hold_back_ms=int(session),  # a row at the very end of a session still belongs to it
            waits=self.window is not None and self.emit == "onWatermark",
        )
