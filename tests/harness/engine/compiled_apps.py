"""Apps in a few words, compiled; and their programs run on rows, where nothing keeps state."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession

from streamapp.columns.app_columns import column_problems
from streamapp.graph.graph_builder import build_graph
from streamapp.plan.planner import plan
from streamapp.spec.parser import parse_data
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.expression_client import ExpressionClient
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.lanes.batches.task_executor import task_executor
from streamapp_runtime.operators.compilation.row_operations import EvaluateRows
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.program.compiler import compile_program
from streamapp_runtime.program.program import PlacedOperation, Program
from streamapp_runtime.rows.slice import Slice, blank_slice
from streamapp_runtime.stores.store import Store
from tests.harness.core.app_resources import app_resource

Row = dict[str, Any]
PARTITIONS = 4


def app(
    *operators: dict[str, Any],
    streams: list[dict[str, Any]] | None = None,
    tables: list[dict[str, Any]] | None = None,
) -> StreamApp:
    """An app of these operators; streams that are not given are `views`, `users` and the output `out`."""
    found = parse_data(app_resource(operators, streams or STREAMS, tables or ()))
    assert not found.problems, found.problems
    return found.apps[0]


STREAMS = [
    {"name": "views", "key": "user", "columns": "user STRING, page STRING, n INT, ts TIMESTAMP"},
    {"name": "users", "key": "user", "columns": "user STRING, country STRING, tier INT"},
    {"name": "out"},
]


def compiled(spark: SparkSession, made: StreamApp) -> Program | list[Problem]:
    """The program, or all problems; and nothing is refused without Spark that Spark takes."""
    graph = build_graph(made, {stream.name: PARTITIONS for stream in made.spec.streams})
    planned = plan(graph)
    assert not planned.errors, planned.errors
    program = compile_program(made, graph, planned, spark.sparkContext)
    sure_problems = column_problems(made)
    if isinstance(program, Program):
        assert not sure_problems, f"refused without Spark, and compiles: {sure_problems}"
    else:
        assert {problem.path for problem in sure_problems} <= {problem.path for problem in program}, (
            f"refused without Spark only: {sure_problems}; with it: {program}"
        )
    return program


def program_of(spark: SparkSession, made: StreamApp) -> Program:
    found = compiled(spark, made)
    assert isinstance(found, Program), found
    return found


def problems_of(spark: SparkSession, *operators: dict[str, Any], **more: Any) -> list[str]:
    found = compiled(spark, app(*operators, **more))
    assert isinstance(found, list), "compiles"
    return [str(problem) for problem in found]


def refusal(spark: SparkSession, *operators: dict[str, Any], **more: Any) -> str:
    """The only problem of such an app."""
    (problem,) = problems_of(spark, *operators, **more)
    return problem


def task(program: Program, name: str) -> PlacedOperation:
    return next(each for each in program.tasks if each.name == name)


def evaluated_by_spark(program: Program) -> list[str]:
    """The names of the tasks whose expressions no worker computes."""
    return [each.name for each in program.tasks if isinstance(each.operation, EvaluateRows)]


def run(spark: SparkSession, program: Program, records: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """What each task that writes is given. Records hold columns by name; `k`, `z`, `now` if they matter."""
    written, failures = run_with_failures(spark, program, records)
    assert not failures
    return written


def run_with_failures(
    spark: SparkSession, program: Program, records: dict[str, list[Row]]
) -> tuple[dict[str, list[Row]], dict[int, str]]:
    """The same, and why expressions failed, by the place of the record."""
    moments = [row["now"] for rows in records.values() for row in rows if "now" in row]
    now = int(moments[0].replace(tzinfo=UTC).timestamp() * 1000) if moments else 0
    with lane_state(spark, now) as state:
        written = _run(program, records, state)
    return written, {row.offset: row.reason for row in state.failed}


def expression_folder(context: SparkContext) -> Path:
    """The folder with the address of the expression server in the JVM of a driver without executors."""
    jvm: Any = context._jvm
    return Path(jvm.org.apache.spark.sql.streamapp.ExpressionServer.addressFolder().toString())


@contextmanager
def lane_state(spark: SparkSession, now: int = 0) -> Iterator[LaneState]:
    """The state of a lane that keeps nothing, and asks Spark for expressions."""
    state = LaneState(_no_store, {}, tasks=1, time_ms=now)
    state.expressions = ExpressionClient(lambda: expression_folder(spark.sparkContext))
    yield state
    state.expressions.close()


def _run(program: Program, records: dict[str, list[Row]], state: LaneState) -> dict[str, list[Row]]:
    rows: dict[int, Slice] = {}
    written: dict[str, list[Row]] = {}
    for each in program.tasks:
        match each.operation:
            case Read(stream=stream):
                rows |= {edge.tag: slice_of(records[stream], edge.columns) for edge in each.outputs}
            case Write():
                (edge,) = each.sources
                written[each.name] = _rows(rows.pop(edge.tag), edge.columns)
            case _:
                made = task_executor(each).execute(tuple(rows.pop(edge.tag) for edge in each.sources), state)
                for edge in each.outputs:
                    rows[edge.tag] = slice_of([], edge.columns) if made is None else made
    return written


def _no_store(task: int, name: str) -> Store:
    raise AssertionError(f"{name} of task {task} is touched")


def slice_of(records: list[Row], columns: tuple[Column, ...]) -> Slice:
    values = [
        pa.array([_moment(record.get(field.name)) for record in records], field.type)
        for field in arrow_schema(columns)
    ]
    blank = blank_slice(len(records)).with_columns(values)
    return replace(
        blank,
        key=pa.array([record.get("k") for record in records], pa.binary()),
        time=pa.array([0] * len(records), pa.int64()),
        tombstone=pa.array([record.get("z", False) for record in records], pa.bool_()),
        source=pa.array([0] * len(records), pa.int32()),
        offset=pa.array(range(len(records)), pa.int64()),
    )


def _moment(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


def _rows(made: Slice, columns: tuple[Column, ...]) -> list[Row]:
    """Rows as Spark's driver gives them: moments without a zone."""
    names = ["k", "t", "z", *(column.name for column in columns)]
    values = [array.to_pylist() for array in (made.key, made.time, made.tombstone, *made.columns)]
    return [
        {
            name: value.replace(tzinfo=None) if isinstance(value, datetime) else value
            for name, value in zip(names, row, strict=True)
        }
        for row in zip(*values, strict=True)
    ]
