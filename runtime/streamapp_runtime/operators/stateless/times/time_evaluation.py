"""Values of days and moments computed for whole columns, and Spark's words for what overflows."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from streamapp_runtime.expressions.row_value import (
    CountedMoment,
    ShiftedMoment,
    ShiftedMonths,
    TimeConstant,
    TimeFunction,
)
from streamapp_runtime.operators.stateless.row_evaluation import RowEvaluation
from streamapp_runtime.operators.stateless.times.time_functions import TIME_FUNCTIONS, cast_time
from streamapp_runtime.operators.stateless.times.time_shifts import moments_later, moments_of, months_later
from streamapp_runtime.operators.stateless.value_order import EvaluatedValue

_OVERFLOW: Final = "Spark says: Datetime operation overflow: "


def _time_function(rows: RowEvaluation, one: TimeFunction, needed: np.ndarray) -> EvaluatedValue:
    columns = rows.in_turn(one.values, needed)
    return TIME_FUNCTIONS[one.function](*(rows.array(v, v.type) for v in columns), *one.arguments)


def _shifted_months(rows: RowEvaluation, one: ShiftedMonths, needed: np.ndarray) -> EvaluatedValue:
    of, months = rows.in_turn((one.of, one.months), needed)
    dates, outside = months_later(rows.array(of, pa.date32()), rows.array(months, pa.int32()))
    rows.fail(outside & needed, lambda _: "Spark says: overflow")
    return dates


def _shifted_moment(rows: RowEvaluation, one: ShiftedMoment, needed: np.ndarray) -> EvaluatedValue:
    count, of = rows.in_turn((one.count, one.of), needed)
    counts, moments = rows.array(count, pa.int64()), rows.array(of, of.type)
    later, outside = moments_later(moments, counts, one.unit)

    def reason(row: int) -> str:
        if not one.unit_text:
            return "Spark says: long overflow"
        moment = cast_time(moments.slice(row, 1), pa.string())[0]
        return f"{_OVERFLOW}add {counts[row]}L {one.unit_text} to TIMESTAMP '{moment}'"

    rows.fail(outside & needed, reason)
    return later


def _counted_moment(rows: RowEvaluation, one: CountedMoment, needed: np.ndarray) -> EvaluatedValue:
    numbers = rows.array(rows.computed(one.of, needed), pa.int64())
    moments, outside = moments_of(numbers, one.unit)
    words = "create a TIMESTAMP from {}L {} since the epoch"
    rows.fail(outside & needed, lambda row: f"{_OVERFLOW}{words.format(numbers[row], one.unit)}")
    return moments


TIME_EVALUATORS: Final[Mapping[type, Callable[[RowEvaluation, Any, np.ndarray], EvaluatedValue]]] = {
    TimeConstant: lambda _, one, __: pa.scalar(one.value),
    TimeFunction: _time_function,
    CountedMoment: _counted_moment,
    ShiftedMoment: _shifted_moment,
    ShiftedMonths: _shifted_months,
}
