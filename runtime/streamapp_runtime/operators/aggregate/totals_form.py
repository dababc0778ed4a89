"""The form in which totals are kept: a column for each partial state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamapp_runtime.operators.aggregate.exact_sums import (
    Flags,
    Numbers,
    excess_reason,
    is_wide,
    misfits,
    narrowed,
    values_beyond,
    widened,
)
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
    """The totals kept of each group; `over` are the positions of the arguments, None for a count of rows."""

    functions: tuple[str, ...]
    over: tuple[int | None, ...]
    schema: pa.Schema
    texts: tuple[str, ...] = ()  # as people write each: `sum(n)`

    def fresh(self, columns: Sequence[pa.Array]) -> list[Measure]:
        """The measures of rows with these columns."""
        return [
            Measure(function, None if position is None else columns[position], field.type)
            for function, position, field in zip(self.functions, self.over, self.schema, strict=True)
        ]

    def merged(self, *totals: Sequence[pa.Array]) -> list[Measure]:
        """The measures of totals, several of which may be of one group."""
        return [
            Measure(merge_function(function), _joined(parts, field.type), field.type)
            for function, parts, field in zip(
                self.functions, zip(*totals, strict=True), self.schema, strict=True
            )
        ]

    def fitting(self, totals: Sequence[pa.Array]) -> tuple[pa.Array, ...] | None:
        """Totals in the types in which they are kept; None where one does not fit."""
        if any(misfits(total, field.type).any() for total, field in zip(totals, self.schema, strict=True)):
            return None
        return tuple(narrowed(total, field.type) for total, field in zip(totals, self.schema, strict=True))

    def rows_beyond(
        self,
        totals: Sequence[pa.Array],
        kept_values: tuple[Numbers, Sequence[pa.Array]],
        fresh: tuple[Numbers, Sequence[pa.Array]],
    ) -> Mapping[int, str]:
        """The rows with which totals that do not fit leave their types, and why.

        The totals are by group; kept ones and columns of rows have the number of their group beside them.
        """
        reasons: dict[int, str] = {}
        for number, (total, field, over) in enumerate(zip(totals, self.schema, self.over, strict=True)):
            misfit: Flags = misfits(total, field.type)
            if over is None or not misfit.any():
                continue
            beyond = values_beyond(
                misfit, field.type, (kept_values[0], kept_values[1][number]), (fresh[0], fresh[1][over])
            )
            for row, excess in beyond.items():
                reasons.setdefault(row, excess_reason(self.texts[number], excess, field.type))
        return reasons

    def with_kept(
        self, fresh: tuple[pa.Array, ...], lookup: LookupResult, behind: int = 0
    ) -> tuple[pa.Array, ...]:
        """Fresh totals, one for each place that was looked for, merged with what was found there.

        What is kept has so many other columns before its totals.
        """
        kept_groups, kept_columns = kept_totals(lookup, behind)
        if not len(kept_groups):
            return fresh
        groups = np.concatenate([np.arange(len(lookup.places)), kept_groups])
        measures = self.merged(fresh, kept_columns)
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
        tuple(partial.text for partial in operation.partials),
    )


def kept_totals(lookup: LookupResult, behind: int = 0) -> tuple[Numbers, Sequence[pa.Array]]:
    """Totals that were found, behind so many other columns, and the place of each among those looked for."""
    return np.flatnonzero(lookup.places.is_valid()), lookup.rows.columns[behind:]


def _joined(parts: Sequence[pa.Array], kind: pa.DataType) -> pa.Array:
    if any(is_wide(part, kind) for part in parts):
        parts = [widened(part, kind) for part in parts]
    return pa.concat_arrays(parts)
