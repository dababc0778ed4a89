"""Which function compiles which kind of operator."""

from collections.abc import Mapping

from streamapp.spec.resource import operators as spec
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.expressions.analysis import canonical
from streamapp_runtime.expressions.compile_refusal import refusals_within
from streamapp_runtime.expressions.template import column_templates
from streamapp_runtime.operators.aggregate.aggregate_compiler import compile_aggregate
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.key_change import rekey
from streamapp_runtime.operators.compilation.piece import CompiledOperator, PieceChain, RowFlow, SqlPart
from streamapp_runtime.operators.compilation.row_key import RowKey
from streamapp_runtime.operators.join.join_compiler import compile_join
from streamapp_runtime.operators.operations import ProcessRows
from streamapp_runtime.operators.stateless.row_compiler import compile_filter, compile_map, compile_merge
from streamapp_runtime.operators.stateless.stream_compiler import (
    compile_broadcast,
    compile_partition_by,
    compile_send_to,
)
from streamapp_runtime.operators.tables.table_compiler import compile_join_table, compile_send_to_table


def compile_operator(  # noqa: PLR0911 - one kind a line
    operator: spec.Operator, flows: tuple[RowFlow, ...], world: CompileContext
) -> CompiledOperator:
    """The operator's pieces."""
    name, flow = operator.name, flows[0]
    match operator.body:
        case spec.Filter() as body:
            return compile_filter(body, name, flow, world)
        case spec.Map() | spec.FlatMap() as body:
            return compile_map(body, name, flow, world)
        case spec.Merge() as body:
            return compile_merge(body, name, flows)
        case spec.PartitionBy() as body:
            return compile_partition_by(body, name, flow, world)
        case spec.Broadcast() as body:
            return compile_broadcast(body, name, flow, world)
        case spec.Join() as body:
            return compile_join(body, name, flows, world)
        case spec.JoinTable() as body:
            return compile_join_table(body, name, flow, world)
        case spec.SendToTable() as body:
            return compile_send_to_table(body, name, flow, world)
        case spec.Aggregate() as body:
            return compile_aggregate(body, name, flow, world)
        case spec.SendTo() as body:
            return compile_send_to(body, name, flow, world)
        case spec.Process() as body:
            return _process(body, name, flow, world)
        case body:
            raise TypeError(f"no such operator: {body!r}")


def lacks_table_columns(operator: spec.Operator, known: Mapping[str, tuple[Column, ...]]) -> bool:
    """Whether a table that it uses has no columns, for a reason that is told elsewhere."""
    body = operator.body
    if isinstance(body, spec.JoinTable | spec.SendToTable):
        return body.table not in known
    return isinstance(body, spec.Process) and any(table not in known for table in body.tables)


def _process(body: spec.Process, name: str, flow: RowFlow, world: CompileContext) -> CompiledOperator:
    with refusals_within("columns"):
        made = canonical(parse_columns(body.columns)) if body.columns else ()
    remotes = tuple(table for table in body.tables if world.table(table).remote is not None)
    local = tuple(table for table in body.tables if table not in remotes)
    process = ProcessRows(name, body.python, local, remotes)
    chain = PieceChain(name, flow).then("", process, made, RowKey(None, None))
    if not made:
        return CompiledOperator(chain.pieces)
    if body.key is None:
        return chain.done()
    key, known = rekey(world.spark, body.key, chain.flow)
    return chain.then(
        "key", SqlPart(column_templates(len(made)), key=key, tombstones_keep_key=False), made, known
    ).done()
