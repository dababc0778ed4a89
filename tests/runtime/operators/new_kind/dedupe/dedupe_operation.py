"""What a dedupe does."""

from dataclasses import dataclass

from streamapp_runtime.operators.operation import EventTimeUse, Operation


@dataclass(frozen=True, slots=True)
class FirstOfKey(Operation):
    """Give on the first row of each key, and never another."""

    state: str

    def own_state(self) -> str | None:
        """The keys that were there."""
        return self.state

    def local_tables(self) -> tuple[str, ...]:
        """None."""
        return ()

    def remote_tables(self) -> tuple[str, ...]:
        """None."""
        return ()

    def event_time_use(self) -> EventTimeUse | None:
        """None: what counts is the order in which rows come."""
        return None
