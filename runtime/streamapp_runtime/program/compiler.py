"""From an app and its plan to the program that lanes run, or all that is wrong with its expressions."""

from collections.abc import Callable, Sequence
from functools import partial

from streamapp.author.key_reliance import key_reliance, side_input_reliance
from streamapp.columns.compile_order import compile_order, tables_without_columns
from streamapp.columns.compile_refusal import CompileRefusedError, refusals_within
from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import traits_of
from streamapp.spec.resource.tables import Table
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.expressions.analysis import canonical
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.piece import CompiledOperator, Piece, RowFlow
from streamapp_runtime.operators.kind_table import compile_operator
from streamapp_runtime.operators.stateless.stream_compiler import compile_read
from streamapp_runtime.operators.stateless.stream_operations import Read, side_name
from streamapp_runtime.operators.tables.side_input_compiler import compile_side_input, side_input_columns
from streamapp_runtime.program.assembly import assemble
from streamapp_runtime.program.program import Program, TableColumns
from streamapp_runtime.program.trace_reach import with_traces


def compile_program(app: StreamApp, graph: Graph, plan: Plan, spark: SparkSource) -> Program | list[Problem]:
    """The program of an app whose plan was accepted; else all problems, sorted by their paths."""
    return _Compilation(app, graph, plan, spark).run()


class _Compilation:
    """The compilation so far. What reads from something that is wrong is passed over in silence."""

    def __init__(self, app: StreamApp, graph: Graph, plan: Plan, spark: SparkSource) -> None:
        self.spec = app.spec
        self.graph = graph
        self.columns: dict[str, tuple[Column, ...]] = {}
        self.context = CompileContext(spark, app, plan, self.columns)
        self.pieces: list[Piece] = []
        self.flows: dict[str, RowFlow] = {}
        self.problems: list[Problem] = []

    def run(self) -> Program | list[Problem]:
        self.inputs()
        self.tables()
        self.operators()
        self.side_inputs()
        if self.problems:
            return sorted(set(self.problems))
        late_rows = self.spec.late_rows.action == "stream"
        pieces = with_traces(_read_by_someone(self.pieces), late_rows=late_rows)
        return assemble(pieces, tuple(TableColumns(*entry) for entry in sorted(self.columns.items())))

    def tables(self) -> None:
        """Columns that a table declares, or has from the first stream that fills it."""
        for index, table in enumerate(self.spec.tables):
            path = f"spec.tables[{index}]"
            if table.columns is not None:
                try:
                    with refusals_within("columns"):
                        self.columns[table.name] = canonical(parse_columns(table.columns))
                except CompileRefusedError as refused:
                    self.problems.append(refused.at(path))
            elif table.side_inputs and (first := self.side_flow(table, 0)):
                try:
                    self.columns[table.name] = side_input_columns(table, first, self.context)
                except CompileRefusedError as refused:
                    self.problems.append(refused.at(path))
        self.problems += tables_without_columns(self.spec)

    def inputs(self) -> None:
        """Every stream that is read, once for the operators and once for each table that it fills."""
        inputs = {o.stream for o in self.graph.operators.values() if o.is_input}
        reliance = key_reliance(self.context.app, self.graph)
        for index, stream in enumerate(self.spec.streams):
            path = f"spec.streams[{index}]"
            if stream.name in inputs:
                self.add(stream.name, path, partial(compile_read, stream, reliance[stream.name]))
            for table in self.spec.tables:
                for side in table.side_inputs:
                    if side.stream == stream.name:
                        name = side_name(stream.name, table.name)
                        relied = side_input_reliance(stream, table, side)
                        sign = self.spec.versions_of(side)
                        self.add(name, path, partial(compile_read, stream, relied, table.name, sign))

    def operators(self) -> None:
        """Each operator after those that it reads, and after what gives a table its columns."""
        order, circles = compile_order(self.spec, frozenset(self.columns))
        self.problems += circles
        for index in order:
            operator = self.spec.operators[index]
            if not all(source in self.flows for source in operator.sources):
                continue
            flows = tuple(self.flows[source] for source in operator.sources)
            path = f"spec.operators[{index}].{operator.kind}"
            if traits_of(operator).fills_tables:
                for table in operator.tables:
                    self.columns.setdefault(table, flows[0].columns)
            if all(table in self.columns for table in operator.tables):  # else that is told elsewhere
                self.add(operator.name, path, partial(compile_operator, operator, flows, self.context))

    def side_inputs(self) -> None:
        for index, table in enumerate(self.spec.tables):
            for number in range(len(table.side_inputs)):
                flow = self.side_flow(table, number)
                if flow is not None and table.name in self.columns:
                    self.add(
                        "",
                        f"spec.tables[{index}]",
                        partial(compile_side_input, table, number, flow, self.context),
                    )

    def side_flow(self, table: Table, number: int) -> RowFlow | None:
        """The rows of a table's side input; None where something is wrong with the stream."""
        return self.flows.get(side_name(table.side_inputs[number].stream, table.name))

    def add(self, name: str, path: str, step: Callable[[], CompiledOperator]) -> None:
        """Keep what one step gives, or why it gives nothing."""
        try:
            compiled = step()
        except CompileRefusedError as refused:
            self.problems.append(refused.at(path))
            return
        self.pieces += compiled.pieces
        if compiled.flow is not None:
            self.flows[name] = compiled.flow


def _read_by_someone(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces, less those that read what the app makes for others only: it keeps its records."""
    sources = {source for piece in pieces for source in piece.sources}
    return tuple(
        piece
        for piece in pieces
        if not (isinstance(piece.work, Read) and piece.work.enveloped and piece.name not in sources)
    )
