"""The last part of an operator that a Python worker runs: choose columns there, compute the others in SQL."""

from collections.abc import Callable

from streamapp.columns.row_key import RowKey
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.template import Template, all_columns
from streamapp_runtime.operators.compilation.piece import PieceChain, SqlPart
from streamapp_runtime.operators.operation import Operation


def with_final_select(
    chain: PieceChain,
    operation: Callable[[tuple[int, ...]], Operation],
    columns: tuple[Column, ...],
    wanted: tuple[Column, ...],
    outputs: tuple[Template, ...],
    key: RowKey,
) -> PieceChain:
    """Add the operation, told which positions to put out, and SQL where these are not all that is wanted.

    `columns` are those at those positions. What no expression reads is not put out.
    """
    if all_columns(outputs):
        return chain.then("", operation(_positions(outputs)), wanted, key)
    used = tuple(sorted({position for output in outputs for position in output.columns}))
    raw = tuple(Column(f"{columns[position].name}", columns[position].type) for position in used)
    part = SqlPart(tuple(output.moved(used) for output in outputs))
    return chain.then("", operation(used), raw, key).then("select", part, wanted, key)


def _positions(outputs: tuple[Template, ...]) -> tuple[int, ...]:
    return tuple(c for c in (output.column for output in outputs) if c is not None)
