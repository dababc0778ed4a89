"""Rows that are made of what a store has kept, for windows that go out when they are complete."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.aggregate.windows import Numbers, window_columns
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import rows_without_origin


@dataclass(frozen=True, slots=True)
class WindowOutput:
    """The columns of its key that an aggregate keeps beside its totals, to put the totals out later."""

    operation: Totals
    schema: pa.Schema
    labels: tuple[int, ...]  # positions of the key's columns; none where totals go out with the rows

    @property
    def fields(self) -> list[pa.Field]:
        """The fields in which the key's columns are kept."""
        return [pa.field(f"key-{n}", self.schema.field(p).type) for n, p in enumerate(self.labels)]

    def rows(
        self, task: int, keys: pa.Array, spans: tuple[Numbers, Numbers], stored: Sequence[pa.Array]
    ) -> Slice:
        """A row for each window, its time the last moment of it; `stored` are key columns, then totals."""
        starts, ends = spans
        row_columns = [pa.nulls(len(keys), field.type) for field in self.schema]
        for position, column in zip(self.labels, stored, strict=False):
            row_columns[position] = column
        columns = (*row_columns, *window_columns(starts, ends), *stored[len(self.labels) :])
        return rows_without_origin(task, keys, pa.array(ends - 1), columns).choose(self.operation.chosen)


def window_output(operation: Totals, schema: pa.Schema) -> WindowOutput:
    """The window output of an operation over rows with these columns."""
    labels = operation.key if operation.window is not None and operation.emit == "onWatermark" else ()
    return WindowOutput(operation, schema, labels)
