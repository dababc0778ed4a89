"""The rows with which side inputs fill tables: records as they are, or keys and values made of them."""

from streamapp.columns.column_rules import require_declared_columns
from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import refusals_within
from streamapp.columns.row_key import RowKey
from streamapp.spec.resource.tables import SideInput, Table
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.expression import expression
from streamapp_runtime.expressions.select_list import SelectList, select
from streamapp_runtime.expressions.template import (
    RECORD_KEY,
    Template,
    all_columns,
    column_templates,
    substituted,
)
from streamapp_runtime.operators.compilation.column_fit import (
    fit_columns,
    nullable_columns,
    with_required_columns,
)
from streamapp_runtime.operators.compilation.compile_context import CompileContext
from streamapp_runtime.operators.compilation.key_change import key_value
from streamapp_runtime.operators.compilation.piece import CompiledOperator, PieceChain, RowFlow, SqlPart
from streamapp_runtime.operators.tables.table_operations import FillTable
from streamapp_runtime.operators.user_code.user_operations import PythonMap

FILL_PREFIX = "fill-"
"""What the parts that fill a table are called, with the number of the side input."""


def side_input_columns(table: Table, flow: RowFlow, context: CompileContext) -> tuple[Column, ...]:
    """The columns that a table has from its first side input, where it declares none."""
    require_declared_columns(table)
    return _selected(table.side_inputs[0], 0, flow, context).columns


def compile_side_input(table: Table, number: int, flow: RowFlow, context: CompileContext) -> CompiledOperator:
    """Fill a table with a stream's records."""
    side = table.side_inputs[number]
    declared = context.table_columns[table.name]
    table_columns = nullable_columns(declared)
    chain = PieceChain(f"{table.name}/{FILL_PREFIX}{number}", flow)
    outputs = column_templates(len(table_columns))
    if side.python is not None:
        unchecked = table.broadcast or context.app.spec.stream(side.stream).keys == "unchecked"
        placed_by = None if unchecked else side.stream
        python_map = PythonMap(side.python, each=False, keyed=True, stream=placed_by)
        chain = chain.then("rows", python_map, table_columns, RowKey(None, None))
        chain = with_required_columns(chain, declared, f'table "{table.name}"')
    else:
        outputs = _outputs(table, number, flow, context)
        if side.key is not None or not all_columns(outputs):
            with refusals_within(f"sideInputs[{number}].key"):
                part = _keyed(SqlPart(outputs), side, flow, context)
            chain = chain.then("row", part, table_columns, flow.key)
            outputs = column_templates(len(table_columns))
    chosen = tuple(c for c in (o.column for o in outputs) if c is not None)
    fill = FillTable(table.name, side.stream, side.bootstrap, chosen)
    return chain.then("", fill, (), chain.flow.key).ended()


def _outputs(table: Table, number: int, flow: RowFlow, context: CompileContext) -> tuple[Template, ...]:
    """The expressions that make the table's columns of the stream's."""
    chosen = _selected(table.side_inputs[number], number, flow, context)
    where = "stream" if table.side_inputs[number].value is None else "value"
    with refusals_within(f"sideInputs[{number}].{where}"):
        outputs = fit_columns(
            context.spark, chosen.columns, context.table_columns[table.name], f'table "{table.name}"'
        )
    return tuple(substituted(output, chosen.outputs) for output in outputs)


def _selected(side: SideInput, number: int, flow: RowFlow, context: CompileContext) -> SelectList:
    if side.value is None:
        return SelectList(flow.columns, column_templates(len(flow.columns)))
    with refusals_within(f"sideInputs[{number}].value"):
        return select(context.spark, side.value, ColumnScope((ScopeSide("", flow.columns),)))


def _keyed(part: SqlPart, side: SideInput, flow: RowFlow, context: CompileContext) -> SqlPart:
    """The part with the key that the side input says; as it is where that is the record's."""
    if side.key is None:
        return part
    key, kind = expression(context.spark, side.key, ColumnScope((ScopeSide("", flow.columns),)))
    name = None if key.column is None else flow.columns[key.column].name
    keeps_key = flow.key.is_column(name)
    return SqlPart(
        part.outputs,
        key=key,
        tombstones_keep_key=keeps_key,
        key_of_tombstone=_of_tombstone(key, flow),
        key_value=key_value(key, kind),
    )


def _of_tombstone(key: Template, flow: RowFlow) -> Template | None:
    """The key by the record's own key alone: a record without a value has nothing else."""
    key_places = [place for place, column in enumerate(flow.columns) if flow.key.is_column(column.name)]
    if list(key.columns) != key_places or key.column is not None:
        return None
    kind = flow.columns[key_places[0]].type
    text = f"CAST(TRY_CAST(CAST({RECORD_KEY} AS STRING) AS {kind}) AS {kind})"
    return Template(tuple(text if piece == key_places[0] else piece for piece in key.pieces))
