"""Apps in a few words, compiled; and a slow, plain reading of programs in which only SQL computes."""

from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from streamapp.columns.app_columns import column_problems
from streamapp.graph.graph_builder import build_graph
from streamapp.plan.planner import plan
from streamapp.spec.parser import parse_data
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.expressions.row_value import ColumnValue, RowValue
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.operators.compilation.row_operations import (
    ComputeColumns,
    FilterRows,
    KeyRows,
    SelectColumns,
)
from streamapp_runtime.operators.stateless.row_executors import key_bytes
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from streamapp_runtime.program.compiler import compile_program
from streamapp_runtime.program.program import PlacedOperation, Program, PythonLayer, RowEdge
from streamapp_runtime.program.sql_layer import apply_layer
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
    program = compile_program(made, graph, planned, spark)
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
    return next(
        t for layer in program.layers if isinstance(layer, PythonLayer) for t in layer.tasks if t.name == name
    )


def layer_of(program: Program, name: str) -> int:
    return next(
        number
        for number, layer in enumerate(program.layers)
        if isinstance(layer, PythonLayer) and any(t.name == name for t in layer.tasks)
    )


def run(spark: SparkSession, program: Program, records: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """What each task that writes is given. Records hold columns by name, and `k`, `t`, `z` if they matter."""
    rows: list[Row] = []
    written: dict[str, list[Row]] = {}
    for layer in program.layers:
        if isinstance(layer, PythonLayer):
            for each in layer.tasks:
                rows = _task(program, each, rows, records, written)
        else:
            frame = spark.createDataFrame([tuple(row.values()) for row in rows], program.schema)
            rows = [row.asDict() for row in apply_layer(frame, layer).collect()]
    assert not rows
    return written


def _task(
    program: Program,
    each: PlacedOperation,
    rows: list[Row],
    records: dict[str, list[Row]],
    written: dict[str, list[Row]],
) -> list[Row]:
    tags = {edge.tag: edge for edge in each.sources}
    mine = [row for row in rows if row["tag"] in tags]
    rest = [row for row in rows if row["tag"] not in tags]
    empty: Row = {column.name: None for column in program.registers}
    match each.operation:
        case Read(stream=stream):
            for edge in each.outputs:
                for record in records[stream]:
                    fixed = {"tag": edge.tag, "task": 0, "k": None, "t": 0, "z": False, "src": 0, "off": 0}
                    fixed |= {
                        name: record[name]
                        for name in ("k", "t", "z", "now")
                        if name in record and name in empty
                    }
                    values = [record.get(column.name) for column in edge.columns]
                    rest.append(empty | fixed | dict(zip(edge.registers, values, strict=True)))
        case SelectColumns(chosen) | KeyRows(chosen):
            for row in mine:
                source = tags[row["tag"]]
                values = [row[source.registers[place]] for place in chosen]
                fixed = {
                    name: row[name] for name in empty if name in {"task", "k", "t", "z", "src", "off", "now"}
                }
                if isinstance(each.operation, KeyRows) and (
                    not row["z"] or not each.operation.tombstones_keep_key
                ):
                    fixed["k"] = None if row["z"] else _key_of(row, each.operation, source)
                for edge in each.outputs:
                    registers = dict(zip(edge.registers, values, strict=True))
                    rest.append(empty | fixed | {"tag": edge.tag} | registers)
        case ComputeColumns() as compute:
            rest += _computed(mine, compute, each, empty)
        case FilterRows(where):
            rest += _filtered(mine, where, each)
        case Write():
            (edge,) = each.sources
            written[each.name] = [
                {name: row[name] for name in ("k", "t", "z")}
                | {c.name: row[r] for c, r in zip(edge.columns, edge.registers, strict=True)}
                for row in mine
            ]
        case other:
            raise NotImplementedError(other)
    return rest


def _filtered(rows: list[Row], where: RowValue, each: PlacedOperation) -> list[Row]:
    kept = _values(rows, each.sources[0]).condition(where).to_pylist()
    kept_rows = [row for row, holds_for in zip(rows, kept, strict=True) if holds_for or row["z"]]
    return [row | {"tag": edge.tag} for row in kept_rows for edge in each.outputs]


def _values(rows: list[Row], source: RowEdge) -> RowValues:
    columns = zip(source.registers, arrow_schema(source.columns), strict=True)
    return RowValues([pa.array([row[r] for row in rows], f.type) for r, f in columns], len(rows))


def _computed(rows: list[Row], compute: ComputeColumns, each: PlacedOperation, empty: Row) -> list[Row]:
    """The rows on every edge that the operation writes."""
    (source,), edge = each.sources, each.outputs[0]
    values = _values(rows, source)
    columns = [
        [row[source.registers[value.position]] for row in rows]
        if isinstance(value, ColumnValue)
        else values.column(value, field.type).to_pylist()
        for value, field in zip(compute.values, arrow_schema(edge.columns), strict=True)
    ]
    keys = [row["k"] for row in rows]
    if compute.key is not None:
        keys = values.column(compute.key, pa.binary()).to_pylist()
    deleted = [False] * len(rows)
    if compute.delete is not None:
        deleted = values.condition(compute.delete).to_pylist()
    assert not values.failures
    made = []
    for row, key, is_deleted, computed in zip(rows, keys, deleted, zip(*columns, strict=True), strict=True):
        fixed = {n: row[n] for n in empty if n in {"task", "k", "t", "z", "src", "off", "now"}}
        of_tombstone = row["k"] if compute.tombstones_keep_key else None
        fixed["k"] = of_tombstone if row["z"] else key
        fixed["z"] = row["z"] or is_deleted
        given = [None] * len(computed) if fixed["z"] else computed
        registers = dict(zip(edge.registers, given, strict=True))
        made += [empty | fixed | {"tag": each_edge.tag} | registers for each_edge in each.outputs]
    return made


def _key_of(row: Row, operation: KeyRows, source: RowEdge) -> Any:
    field = arrow_schema(source.columns).field(operation.key)
    (key,) = key_bytes(pa.array([row[source.registers[operation.key]]], field.type)).to_pylist()
    return key
