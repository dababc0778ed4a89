"""A user's stateful class: the tables that it is given, and the columns and key of what it puts out."""

from streamapp.columns.compile_refusal import refusals_within
from streamapp.columns.row_key import RowKey
from streamapp.spec.resource.operators import Process
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.expressions.analysis import canonical
from streamapp_runtime.operators.compilation.column_fit import nullable_columns, with_required_columns
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.key_change import rekey
from streamapp_runtime.operators.compilation.piece import CompiledOperator, PieceChain, RowFlow
from streamapp_runtime.operators.user_code.user_operations import ProcessRows


def compile_process(
    body: Process, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Run the class over rows, then give what it puts out its key."""
    (flow,) = flows
    with refusals_within("columns"):
        output_columns = canonical(parse_columns(body.columns)) if body.columns else ()
    remotes = tuple(table for table in body.tables if context.app.spec.table(table).remote is not None)
    local = tuple(table for table in body.tables if table not in remotes)
    required = tuple((t, c.name) for t in local for c in context.table_columns[t] if not c.nullable)
    process = ProcessRows(name, body.python, local, remotes, required)
    chain = PieceChain(name, flow).then("", process, nullable_columns(output_columns), RowKey(None, None))
    if not output_columns:
        return CompiledOperator(chain.pieces)
    chain = with_required_columns(chain, output_columns, f'operator "{name}"')
    if body.key is None:
        return chain.done()
    change = rekey(context.spark, body.key, chain.flow)
    part = change.keyed(len(output_columns), tombstones_keep_key=False)
    return chain.then("key", part, nullable_columns(output_columns), change.row_key).done()
