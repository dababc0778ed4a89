"""The function that compiles each kind of operator."""

from collections.abc import Callable, Mapping
from typing import Any

from streamapp.spec.resource.operator_kinds import OperatorKind, require_rows
from streamapp.spec.resource.operators import Operator
from streamapp_runtime.operators.aggregate.aggregate_compiler import compile_aggregate
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.piece import CompiledOperator, RowFlow
from streamapp_runtime.operators.join.join_compiler import compile_join
from streamapp_runtime.operators.stateless.row_compiler import compile_filter, compile_map, compile_merge
from streamapp_runtime.operators.stateless.stream_compiler import (
    compile_broadcast,
    compile_partition_by,
    compile_send_to,
)
from streamapp_runtime.operators.tables.table_compiler import compile_join_table, compile_send_to_table
from streamapp_runtime.operators.user_code.process_compiler import compile_process

OperatorCompiler = Callable[[Any, str, tuple[RowFlow, ...], CompileContext], CompiledOperator]
"""From what stands under its kind, its name and the rows that it reads: the pieces of an operator."""

COMPILERS: Mapping[OperatorKind, OperatorCompiler] = {
    OperatorKind.FILTER: compile_filter,
    OperatorKind.MAP: compile_map,
    OperatorKind.FLAT_MAP: compile_map,
    OperatorKind.MERGE: compile_merge,
    OperatorKind.PARTITION_BY: compile_partition_by,
    OperatorKind.BROADCAST: compile_broadcast,
    OperatorKind.JOIN: compile_join,
    OperatorKind.JOIN_TABLE: compile_join_table,
    OperatorKind.SEND_TO_TABLE: compile_send_to_table,
    OperatorKind.AGGREGATE: compile_aggregate,
    OperatorKind.PROCESS: compile_process,
    OperatorKind.SEND_TO: compile_send_to,
}
require_rows("COMPILERS", COMPILERS, Operator.kinds())


def compile_operator(
    operator: Operator, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """The operator's pieces."""
    return COMPILERS[OperatorKind(operator.kind)](operator.body, operator.name, flows, context)
