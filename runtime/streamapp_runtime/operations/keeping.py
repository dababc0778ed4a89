"""Rows kept or dropped by what stands in them."""

from dataclasses import dataclass

import pyarrow.compute as pc

from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.operations.executor import Stateless
from streamapp_runtime.operations.judging import holds
from streamapp_runtime.operations.state import State
from streamapp_runtime.program.operations import Keep


@dataclass(frozen=True, slots=True)
class Keeping(Stateless):
    """Runs Keep. A tombstone is not judged and passes."""

    operation: Keep

    def execute(self, slices: tuple[Slice, ...], state: State) -> Slice | None:
        """The rows for which the condition is true."""
        (rows,) = slices
        kept = holds(self.operation.where, rows.columns, len(rows))
        if rows.tombstone.true_count:
            kept = pc.or_(kept, rows.tombstone)
        return rows if kept.true_count == len(rows) else rows.filter(kept)
