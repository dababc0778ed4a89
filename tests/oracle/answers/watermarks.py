"""What streams and operators have reached in event time after each step, by task, as the guide says it."""

from collections.abc import Callable, Mapping
from typing import Final

from tests.oracle.cases.case import Case, Grow, Send
from tests.oracle.cases.resource_reading import Part, milliseconds, sources_of

ENDED: Final = 2**60
"""The watermark of what has ended."""
Reached = Callable[[int, int], int | None]
"""By task and step, what is reached when the step is over."""


class Watermarks:
    """Watermarks by the times that inputs have shown."""

    def __init__(self, case: Case, operators: Mapping[str, tuple[str, Part]]) -> None:
        self.case, self.operators = case, operators
        self.streams = {stream["name"]: stream for stream in case.spec["streams"]}
        self.newest: dict[str, dict[int, list[tuple[int, int]]]] = {}

    def note(self, stream: str, step: int, index: int, time: int) -> None:
        """A time that stands in a record of a partition."""
        self.newest.setdefault(stream, {}).setdefault(index, []).append((step, time))

    def reader(self, name: str, *, of_inputs: bool = False) -> Reached:
        """What an operator's rows have reached; `of_inputs`: what the operator itself is judged by."""
        read = self._of_inputs if of_inputs else self._of
        return lambda task, step: (
            None if step < 0 else ENDED if self.case.is_batch else read(name, task, step)
        )

    def is_timed(self, name: str) -> bool:
        """Whether any input behind it has event times."""
        if name in self.operators:
            return any(map(self.is_timed, sources_of(self.operators[name][1])))
        return "eventTime" in self.streams[name]

    def _of(self, name: str, task: int, step: int) -> int | None:
        if name not in self.operators:
            return self._of_stream(name, task, step)
        kind, body = self.operators[name]
        if kind in {"partitionBy", "broadcast"}:
            return lowest_of([self._of(body["from"], one, step) for one in range(self.case.tasks)])
        reached = self._of_inputs(name, task, step)
        if kind == "join" and body.get("type", "inner") != "inner" and reached is not None:
            return reached - 2 * milliseconds(body["within"])
        if kind == "aggregate" and "session" in body.get("window", ()) and reached is not None:
            return reached - 1
        return reached

    def _of_inputs(self, name: str, task: int, step: int) -> int | None:
        timed = [source for source in sources_of(self.operators[name][1]) if self.is_timed(source)]
        return lowest_of([self._of(source, task, step) for source in timed])

    def _of_stream(self, name: str, task: int, step: int) -> int | None:
        if name in self.case.tables and self._have_ended(name, step):
            return ENDED
        delay = milliseconds(self.streams[name]["eventTime"]["delay"])
        count = partitions_at(self.case, step)
        partitions = [one for one in range(count) if one % self.case.tasks == task]
        reached = [self._of_partition(name, one, step) for one in partitions]
        return lowest_of([None if time is None else time - delay for time in reached])

    def _have_ended(self, table: str, step: int) -> bool:
        """Whether a table was sent by then, or a stream that operators read."""
        sources = {one for _, body in self.operators.values() for one in sources_of(body)}
        ending = {table} | (sources & self.streams.keys() - self.case.tables)
        return any(isinstance(one, Send) and one.stream in ending for one in self.case.steps[: step + 1])

    def _of_partition(self, stream: str, partition: int, step: int) -> int | None:
        """The newest time of a partition; one that was added begins with that of its parent."""
        times = [time for at, time in self.newest.get(stream, {}).get(partition, ()) if at <= step]
        added = next((a for a in range(step + 1) if partition < partitions_at(self.case, a)), 0)
        if added:
            parent = partition % partitions_at(self.case, added - 1)
            inherited = self._of_partition(stream, parent, added - 1)
            times += [] if inherited is None else [inherited]
        return max(times, default=None)


def partitions_at(case: Case, step: int) -> int:
    """The partitions of inputs in a step: added ones go to the tasks that have their keys."""
    grown = [one.partitions for one in case.steps[: step + 1] if isinstance(one, Grow)]
    return max(grown, default=case.partitions)


def lowest_of(watermarks: list[int | None]) -> int | None:
    """The lowest; None where one has none."""
    known = [at for at in watermarks if at is not None]
    return min(known) if known and len(known) == len(watermarks) else None
