"""The key of a row on its way through the graph, as far as it is known, and where equal keys may lie."""

from dataclasses import dataclass, replace

from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.spec.reasons import Reason

REPARTITION_HINT = "put a partitionBy before it, or give the stream its key column"


@dataclass(frozen=True, slots=True)
class RowKey:
    """`column` holds the key's text; `placed_by` decides the row's task. None: no column is known to.

    `together` says whether rows of equal keys are in one task, which a key that was changed without a
    repartition does not.
    """

    column: str | None
    placed_by: str | None
    together: bool = True

    def renamed(self, names: dict[str, str]) -> "RowKey":
        """The key after a choice of columns: `names` gives the new name of each column that is kept."""
        return replace(self, column=names.get(_low(self.column)), placed_by=names.get(_low(self.placed_by)))

    def changed(self, column: str | None) -> "RowKey":
        """The key after it was set to a column, or to an expression, while rows stay in their tasks."""
        same = column is not None and _low(column) == _low(self.placed_by)
        return replace(self, column=column, together=same)

    def is_column(self, name: str | None) -> bool:
        """True if a column is the key."""
        return name is not None and _low(name) == _low(self.column)

    def places(self, name: str | None) -> bool:
        """True if a column decides the task."""
        return name is not None and _low(name) == _low(self.placed_by)

    def demand_together(self, what: str) -> None:
        """Refuse where equal keys may lie in several tasks."""
        if not self.together:
            raise CompileRefusedError(
                f"{what} needs equal keys in one task, "
                f"and the key was changed without a repartition; {REPARTITION_HINT}",
                reason=Reason.INVALID_GRAPH,
            )


def _low(name: str | None) -> str:
    return name.lower() if name is not None else ""
