"""The description of a join of two streams."""

from dataclasses import dataclass

from streamapp_runtime.operators.operation import EventTimeUse, Operation


@dataclass(frozen=True, slots=True)
class JoinStreams(Operation):
    """Pair the rows of two sources by key within a time; positions are the left's, then the right's."""

    state: str
    type: str
    within_ms: int
    time: str
    chosen: tuple[int, ...]

    def own_state(self) -> str | None:
        """The rows that may still meet others."""
        return self.state

    def local_tables(self) -> tuple[str, ...]:
        """None."""
        return ()

    def remote_tables(self) -> tuple[str, ...]:
        """None."""
        return ()

    def event_time_use(self) -> EventTimeUse | None:
        """By event time, rows without a partner go out when the watermark passes."""
        if self.type == "inner" or self.time != "event":
            return EventTimeUse()
        return EventTimeUse(
            hold_back_ms=self.within_ms + max(self.within_ms, 1),  # they go out by buckets of that length
            waits=True,
        )
