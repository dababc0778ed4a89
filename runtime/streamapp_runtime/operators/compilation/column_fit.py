"""Rows brought to declared columns: by name, cast where types differ, nothing missing or left over."""

from collections.abc import Collection
from dataclasses import replace

from streamapp.columns.column_rules import require_fitting_names
from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.spec.problem import short
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.analysis import select_list_columns
from streamapp_runtime.expressions.row_value import RequiredValue
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.expressions.sql_types import quoted
from streamapp_runtime.expressions.template import Template, column_template
from streamapp_runtime.operators.compilation.piece import PieceChain, SqlPart

_REQUIRED, _RAISES = "COALESCE(", ", CAST(RAISE_ERROR("
"""Before and behind a value that must not be null."""


def nullable_columns(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns of rows: a tombstone has null in each, whatever was declared."""
    return tuple(replace(column, nullable=True) for column in columns)


def with_required_columns(chain: PieceChain, declared: tuple[Column, ...], what: str) -> PieceChain:
    """The rows of a chain, which have the declared columns, and fail where a NOT NULL column has no value."""
    if all(column.nullable for column in declared):
        return chain
    outputs = tuple(
        _required(column_template(position), column, what) for position, column in enumerate(declared)
    )
    return chain.then("required", SqlPart(outputs), nullable_columns(declared), chain.flow.key)


def fit_columns(
    spark: SparkSource,
    columns: tuple[Column, ...],
    wanted: tuple[Column, ...],
    what: str,
    spare: Collection[str] = (),
) -> tuple[Template, ...]:
    """The expressions that make the wanted columns of the given ones, of which the spare may be left over."""
    positions = {c.name.lower(): position for position, c in enumerate(columns)}
    require_fitting_names(columns, wanted, what, spare)
    return tuple(_cast(spark, columns, positions[c.name.lower()], c, what) for c in wanted)


def _cast(
    spark: SparkSource, columns: tuple[Column, ...], position: int, wanted: Column, what: str
) -> Template:
    column = columns[position]
    if column.type == wanted.type:
        return _required(column_template(position), wanted, what)
    try:
        select_list_columns(
            spark, [f"CAST({quoted(column.name)} AS {wanted.type})"], ColumnScope((ScopeSide("", columns),))
        )
    except CompileRefusedError:
        raise CompileRefusedError(
            f'column "{short(column.name)}" is {column.type}, and {wanted.type} in {what}; '
            "no cast leads there"
        ) from None
    return _required(column_template(position).inside("CAST(", f" AS {wanted.type})"), wanted, what)


def unchanged_column(template: Template) -> int | None:
    """The column that an expression gives on as it is, or fails where it is null and must not be."""
    match template.pieces:
        case (str(before), int(position), str(after)) if before == _REQUIRED and after.startswith(_RAISES):
            return position
        case _:
            return template.column


def _required(value: Template, column: Column, what: str) -> Template:
    """The value of a column, which fails where it is null and must not be."""
    if column.nullable:
        return value
    message = f'column "{short(column.name)}" of {what} is NOT NULL, and the row has no value for it'
    literal = message.replace("\\", "\\\\").replace("'", "\\'")
    text = value.inside(_REQUIRED, f"{_RAISES}'{literal}') AS {column.type}))")
    of = value.in_python
    return text if of is None else replace(text, value=RequiredValue(of, message, column.type))
