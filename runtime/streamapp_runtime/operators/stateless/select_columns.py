"""Rows given on with other columns."""

from dataclasses import dataclass

from streamapp_runtime.operators.operation_executor import StatelessExecutor
from streamapp_runtime.operators.operations import SelectColumns
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices


@dataclass(frozen=True, slots=True)
class SelectColumnsExecutor(StatelessExecutor):
    """Runs Choose, over one source or over several that are merged."""

    operation: SelectColumns

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The same rows with the chosen columns."""
        return concat_slices([rows.choose(self.operation.chosen) for rows in slices])
