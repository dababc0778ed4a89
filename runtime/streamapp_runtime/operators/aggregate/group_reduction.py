"""Counts, sums, minima and maxima of groups, as Spark takes them, by Arrow's hash aggregation.

Nulls are left out: a sum, minimum or maximum of nothing else is null, a count of nothing else is 0. NaN is
greater than any other number. Sums of whole numbers and decimals are exact: those that may not fit their type
come out in a wider one (`exact_sums`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.column_list import digits_of_sum
from streamapp_runtime.operators.aggregate.exact_sums import Numbers, is_wide, summable

_NOT_A_NUMBER = float("nan")


@dataclass(frozen=True, slots=True)
class Measure:
    """The value taken of each group: a function over an array; without an array, the count of all rows."""

    function: str
    over: pa.Array | None
    type: pa.DataType  # of what comes out


@dataclass(frozen=True, slots=True)
class ReducedGroups:
    """A row for each group, in the order in which the groups come first."""

    groups: tuple[pa.Array, ...]
    last: pa.Array  # where each group has its last row
    measured: tuple[pa.Array, ...]  # sums that may not fit their type in a wider one


def state_type(function: str, argument: pa.DataType | None) -> pa.DataType | None:
    """The type of a total, which is Spark's; None where it cannot be kept."""
    if argument is None or function == "count":
        return pa.int64()
    if function == "sum":
        return _sum_type(argument)
    ordered = (
        pa.types.is_integer(argument)
        or pa.types.is_floating(argument)
        or pa.types.is_decimal128(argument)
        or pa.types.is_temporal(argument)
        or pa.types.is_boolean(argument)
        or pa.types.is_string(argument)
        or pa.types.is_binary(argument)
    )
    return argument if ordered and not pa.types.is_interval(argument) else None


def reduce_groups(by: Sequence[pa.Array], measures: Sequence[Measure]) -> ReducedGroups:
    """Reduce rows to one for each distinct combination of what they are grouped by."""
    names = [f"by-{number}" for number in range(len(by))]
    columns = dict(zip(names, by, strict=True))
    columns["row"] = pa.array(np.arange(len(by[0])))
    functions: list[tuple[str, str]] = [("row", "max")]
    for number, measure in enumerate(measures):
        name = f"over-{number}"
        columns[name] = columns["row"] if measure.over is None else _carried(measure)
        functions.append((name, measure.function))
        if _has_nan(measure):
            columns[f"nan-{number}"] = pc.is_nan(measure.over)
            functions.append((f"nan-{number}", "any"))
    table = pa.table(columns).group_by(names, use_threads=False).aggregate(functions)
    result_columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    return ReducedGroups(
        tuple(result_columns[name] for name in names),
        result_columns["row_max"],
        tuple(
            _restored(
                measure, result_columns[f"over-{n}_{measure.function}"], result_columns.get(f"nan-{n}_any")
            )
            for n, measure in enumerate(measures)
        ),
    )


def group_numbers(by: Sequence[pa.Array]) -> Numbers:
    """The number of each row's group, in the order of `reduce_groups`."""
    names = [f"by-{number}" for number in range(len(by))]
    columns = {**dict(zip(names, by, strict=True)), "row": pa.array(np.arange(len(by[0])))}
    grouped = pa.table(columns).group_by(names, use_threads=False).aggregate([("row", "list")])
    rows = grouped.column("row_list").combine_chunks()
    numbers = np.empty(len(by[0]), np.int64)
    numbers[rows.flatten().to_numpy()] = np.repeat(np.arange(len(rows)), rows.value_lengths())
    return numbers


def merge_function(function: str) -> str:
    """The function that makes one total of several: counts are summed, all else is its own."""
    return "sum" if function == "count" else function


def _sum_type(argument: pa.DataType) -> pa.DataType | None:
    if pa.types.is_integer(argument):
        return pa.int64()
    if pa.types.is_floating(argument):
        return pa.float64()
    if pa.types.is_decimal128(argument):
        return pa.decimal128(digits_of_sum(argument.precision), argument.scale)
    return argument if pa.types.is_duration(argument) else None


def _carried(measure: Measure) -> pa.Array:
    """The values in a type that Arrow can reduce; of a sum, in one that holds it."""
    values: pa.Array = measure.over
    if measure.function == "sum":
        return summable(values, measure.type)
    return values.cast(pa.int64()) if pa.types.is_duration(values.type) else values


def _restored(measure: Measure, values: pa.Array, nan: pa.Array | None) -> pa.Array:
    if nan is not None:
        values = pc.if_else(nan, pa.scalar(_NOT_A_NUMBER, values.type), values)
    is_exact = measure.function == "sum" and is_wide(values, measure.type)
    return values if is_exact or values.type == measure.type else values.cast(measure.type)


def _has_nan(measure: Measure) -> bool:
    """True if the measure is a maximum over values with a NaN, which Arrow passes over."""
    over = measure.over
    if measure.function != "max" or over is None or not pa.types.is_floating(over.type):
        return False
    return bool(pc.any(pc.is_nan(over)).as_py())
