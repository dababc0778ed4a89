"""Rows that are made of what a store has kept, for windows that go out when they are complete."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.operations.by_task import of_nowhere
from streamapp_runtime.operations.windows import Numbers, bounds
from streamapp_runtime.program.operations import Totals


@dataclass(frozen=True, slots=True)
class PutOut:
    """What an aggregate keeps beside its totals so that it can put them out later: the columns of its key."""

    operation: Totals
    given: pa.Schema
    labels: tuple[int, ...]  # positions of the key's columns; none where totals go out with the rows

    @property
    def fields(self) -> list[pa.Field]:
        """How the key's columns are kept."""
        return [pa.field(f"key-{n}", self.given.field(p).type) for n, p in enumerate(self.labels)]

    def rows(
        self, task: int, keys: pa.Array, spans: tuple[Numbers, Numbers], kept: Sequence[pa.Array]
    ) -> Slice:
        """A row for each window, its time the last moment of it; `kept` are key columns, then totals."""
        starts, ends = spans
        own = [pa.nulls(len(keys), field.type) for field in self.given]
        for position, column in zip(self.labels, kept, strict=False):
            own[position] = column
        columns = (*own, *bounds(starts, ends), *kept[len(self.labels) :])
        return of_nowhere(task, keys, pa.array(ends - 1), columns).choose(self.operation.chosen)


def put_out(operation: Totals, given: pa.Schema) -> PutOut:
    """What is needed for an operation over rows with these columns."""
    labels = operation.key if operation.window is not None and operation.emit == "onWatermark" else ()
    return PutOut(operation, given, labels)
