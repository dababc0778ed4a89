"""Rows given on with other columns."""

from dataclasses import dataclass

from streamapp_runtime.lanes.slice import Slice
from streamapp_runtime.operations.by_task import together
from streamapp_runtime.operations.executor import Stateless
from streamapp_runtime.operations.state import State
from streamapp_runtime.program.operations import Choose


@dataclass(frozen=True, slots=True)
class Choosing(Stateless):
    """Runs Choose, over one source or over several that are merged."""

    operation: Choose

    def execute(self, slices: tuple[Slice, ...], state: State) -> Slice | None:
        """The same rows with the chosen columns."""
        return together([rows.choose(self.operation.chosen) for rows in slices])
