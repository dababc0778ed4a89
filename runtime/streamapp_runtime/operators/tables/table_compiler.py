"""Operators on tables: joinTable and sendToTable."""

from dataclasses import dataclass, replace

from streamapp.columns.column_rules import require_keys_of_task
from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import refusals_within
from streamapp.spec.resource.operators import JoinTable, SendToTable
from streamapp.spec.resource.tables import Table
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.expression import expression
from streamapp_runtime.expressions.select_list import condition, select
from streamapp_runtime.expressions.template import Template, all_columns, column_templates
from streamapp_runtime.operators.compilation.column_fit import fit_columns, nullable_columns
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.final_select import with_final_select
from streamapp_runtime.operators.compilation.key_change import key_value
from streamapp_runtime.operators.compilation.piece import CompiledOperator, PieceChain, RowFlow, SqlPart
from streamapp_runtime.operators.tables.table_operations import LookUp, LookUpRemote, WriteTable


def compile_join_table(
    body: JoinTable, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Look up each row's key, then take what is wanted of row and table."""
    (flow,) = flows
    table = context.app.spec.table(body.table)
    held = nullable_columns(context.table_columns[table.name])
    scope = ColumnScope((ScopeSide("", flow.columns), ScopeSide(table.name, held)))
    with refusals_within("select"):
        chosen = select(context.spark, body.select or "*", scope)
    with refusals_within("key"):
        look_up = _key_to_look_up(body, table, flow, context)
    key = flow.key.renamed(chosen.unchanged_columns(flow.columns))
    chain = PieceChain(name, flow)
    outputs = chosen.outputs
    if look_up.computed is not None:
        part = SqlPart((*column_templates(len(flow.columns)), look_up.computed))
        row_columns = (*flow.columns, Column(f"{name}/key", "BINARY"))
        chain = chain.then("look-up-key", part, row_columns, flow.key)
        before = len(flow.columns)  # the table's columns now come one place later
        outputs = tuple(output.placed(lambda place: place + (place >= before)) for output in outputs)
        scope = ColumnScope((ScopeSide("", row_columns), scope.sides[1]))

    def operation(positions: tuple[int, ...]) -> LookUp | LookUpRemote:
        keeps = body.type == "left"
        place = len(flow.columns) if look_up.computed is not None else look_up.column
        kind = LookUp if table.remote is None else LookUpRemote
        return kind(table.name, keeps, place, positions)

    return with_final_select(chain, operation, scope.columns, chosen.columns, outputs, key).done()


def compile_send_to_table(
    body: SendToTable, name: str, flows: tuple[RowFlow, ...], context: CompileContext
) -> CompiledOperator:
    """Write rows under their keys, or delete what they name."""
    (flow,) = flows
    table_columns = context.table_columns[body.table]
    with refusals_within("table"):
        outputs = fit_columns(context.spark, flow.columns, table_columns, f'table "{body.table}"')
        table_columns = nullable_columns(table_columns)
        flow.key.demand_together(f'table "{body.table}"')
    chain = PieceChain(name, flow)
    if body.delete_where is not None or not all_columns(outputs):
        delete = None
        if body.delete_where is not None:
            with refusals_within("deleteWhere"):
                delete = condition(
                    context.spark, body.delete_where, ColumnScope((ScopeSide("", flow.columns),))
                )
        chain = chain.then("row", SqlPart(outputs, delete=delete), table_columns, flow.key)
        outputs = column_templates(len(table_columns))
    write = WriteTable(body.table, tuple(c for c in (o.column for o in outputs) if c is not None))
    return chain.then("", write, (), flow.key).ended()


_AS_KEYS = ("STRING", "BINARY")
"""Columns whose values are keys as they are."""


@dataclass(frozen=True, slots=True)
class _LookUpKey:
    """The bytes of the key to compute, or the column that is the key; neither where it is the row's own."""

    computed: Template | None = None
    column: int | None = None


def _key_to_look_up(body: JoinTable, table: Table, flow: RowFlow, context: CompileContext) -> _LookUpKey:
    local = table.remote is None and not table.broadcast
    if body.key is None:
        require_keys_of_task(table, body, None, flow.key)
        return _LookUpKey()
    key, kind = expression(context.spark, body.key, ColumnScope((ScopeSide("", flow.columns),)))
    name = None if key.column is None else flow.columns[key.column].name
    require_keys_of_task(table, body, name, flow.key)
    if local and flow.key.is_column(name) and flow.key.together:
        return _LookUpKey()
    if not local and key.column is not None and flow.columns[key.column].type in _AS_KEYS:
        return _LookUpKey(column=key.column)  # of what the row has for its own key nothing is known here
    computed = key.inside("CAST(CAST(", " AS STRING) AS BINARY)")
    return _LookUpKey(replace(computed, value=key_value(key, kind)))
