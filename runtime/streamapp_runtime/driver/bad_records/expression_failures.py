"""The records on which expressions fail, of a search in which lanes report the rows, and why each does."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamapp_runtime.driver.bad_records.bisection import TrialFailure
from streamapp_runtime.driver.executors.batch_exchange import BatchExchange
from streamapp_runtime.driver.executors.lane_hosts import LaneHosts
from streamapp_runtime.expressions.spark_messages import spark_message
from streamapp_runtime.lanes.protocol.failed_rows import failed_rows_in
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.compilation.row_operations import ComputeColumns, FilterRows
from streamapp_runtime.program.failed_row_steps import (
    all_sql_steps,
    failed_step,
    without_shared_subexpressions,
)
from streamapp_runtime.program.program import Program, SqlStep
from streamapp_runtime.program.sql_layer import apply_step

MOST_REASONS: Final = 20
"""So many rows of one step are asked why; what is told of the others names one of these."""

RecordId = tuple[str, int, int]
"""Stream, partition and offset."""


def failing_records(
    executors: LaneHosts,
    exchange: BatchExchange,
    incarnation: int,
    trial: Callable[[BatchExchange], tuple[TaskReport, ...] | TrialFailure],
) -> Mapping[RecordId, str]:
    """The records on which expressions fail, found in one trial; none where something else fails.

    Spark's are marked in a trial of their own kind; those that workers compute are told of in every batch.
    """
    marking = executors.marking_exchange(incarnation)
    if marking is not None:
        with without_shared_subexpressions(executors.sql_session):
            reports = trial(marking)
    elif names_failed_rows(executors.program):
        reports = trial(exchange)
    else:
        return {}
    if isinstance(reports, TrialFailure):
        return {}
    by_workers = {one[:3]: one[3] for report in reports for one in report.failed_records}
    if marking is None:
        return by_workers
    return {**reasons_by_record(executors.sql_session, executors.program, reports), **by_workers}


def names_failed_rows(program: Program) -> bool:
    """True if workers name the rows for which an operation fails: they compute expressions, or sums."""
    named_by = ComputeColumns | FilterRows | Totals
    return any(isinstance(task.operation, named_by) for task in program.python_tasks)


def reasons_by_record(
    session: SparkSession, program: Program, reports: Iterable[TaskReport]
) -> Mapping[RecordId, str]:
    """Each record, and why: as Spark says when it evaluates that row alone."""
    steps, places_by_step = all_sql_steps(program), dict[tuple[int, int], list[RecordId]]()
    reasons: dict[RecordId, str] = {}
    for rows in (failed_rows_in(report.failed_rows) for report in reports if report.failed_rows):
        wide = rows.drop_columns(["stream", "partition"])
        places = zip(*(rows[name].to_pylist() for name in ("stream", "partition", "off")), strict=True)
        for index, place in enumerate(places):
            failed = failed_step(rows["tag"][index].as_py())
            if place in reasons or failed is None:
                continue
            explained_places = places_by_step.setdefault(failed, [])
            if len(explained_places) < MOST_REASONS:
                reason = _reason(session, steps[failed[0]], wide.slice(index, 1), failed[1])
                explained_places.append(place)
                reasons[place] = reason
            else:
                stream, partition, offset = explained_places[0]
                reasons[place] = f"as {stream}#{partition} at offset {offset}: {reasons[explained_places[0]]}"
    return reasons


def _reason(session: SparkSession, step: SqlStep, row: pa.Table, tag: int) -> str:
    """Spark's error message when the step is done with this row alone."""
    place = row.schema.get_field_index("tag")
    row = row.set_column(place, "tag", pa.array([tag], pa.int32()))
    frame: Any = session.createDataFrame(row)
    try:
        apply_step(frame, step).collect()
    except PySparkException as error:
        return spark_message(error)
    return f"an expression of {', '.join(step.pieces)} fails"
