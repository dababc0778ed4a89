"""The form in which totals are kept: a column for each partial state."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamapp_runtime.operators.aggregate.group_reduction import (
    Measure,
    merge_function,
    reduce_groups,
    state_type,
)
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.state.lookup_result import LookupResult


@dataclass(frozen=True, slots=True)
class TotalsForm:
    """What is kept of each group; `over` are the positions of the arguments, None for a count of rows."""

    functions: tuple[str, ...]
    over: tuple[int | None, ...]
    schema: pa.Schema

    def fresh(self, columns: Sequence[pa.Array]) -> list[Measure]:
        """What is taken of rows with these columns."""
        return [
            Measure(function, None if position is None else columns[position], field.type)
            for function, position, field in zip(self.functions, self.over, self.schema, strict=True)
        ]

    def merged(self, *totals: Sequence[pa.Array]) -> list[Measure]:
        """What is taken of totals, several of which may be of one group."""
        return [
            Measure(merge_function(function), pa.concat_arrays(parts), field.type)
            for function, parts, field in zip(
                self.functions, zip(*totals, strict=True), self.schema, strict=True
            )
        ]

    def with_kept(
        self, fresh: tuple[pa.Array, ...], lookup: LookupResult, behind: int = 0
    ) -> tuple[pa.Array, ...]:
        """Fresh totals, one for each place that was looked for, merged with what was found there.

        What is kept has so many other columns before its totals.
        """
        if not lookup.rows.num_rows:
            return fresh
        groups = np.concatenate([np.arange(len(lookup.places)), np.flatnonzero(lookup.places.is_valid())])
        measures = self.merged(fresh, lookup.rows.columns[behind:])
        return reduce_groups((pa.array(groups),), measures).measured


def totals_form(operation: Totals, schema: pa.Schema) -> TotalsForm:
    """The form of an operation's totals over rows with the given columns; TypeError where there is none."""
    fields = []
    for number, partial in enumerate(operation.partials):
        argument = None if partial.argument is None else schema.field(partial.argument).type
        kind = state_type(partial.function, argument)
        if kind is None:
            raise TypeError(f"there is no {partial.function} of {argument} values")
        fields.append(pa.field(f"{partial.function}-{number}", kind))
    return TotalsForm(
        tuple(partial.function for partial in operation.partials),
        tuple(partial.argument for partial in operation.partials),
        pa.schema(fields),
    )
