"""Rows brought to declared columns: by name, cast where types differ, nothing missing or left over."""

from pyspark.sql import SparkSession

from streamapp.spec.problem import nearest, short
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.program.analysis import analyse
from streamapp_runtime.program.refusal import RefusedError
from streamapp_runtime.program.scope import Scope, Side
from streamapp_runtime.program.sql_types import quoted
from streamapp_runtime.program.template import Template, column


def fit(
    spark: SparkSession, given: tuple[Column, ...], wanted: tuple[Column, ...], what: str
) -> tuple[Template, ...]:
    """The expressions that make the wanted columns of the given ones."""
    positions = {c.name.lower(): position for position, c in enumerate(given)}
    names = {c.name.lower() for c in wanted}
    missing = [c.name for c in wanted if c.name.lower() not in positions]
    extra = [c.name for c in given if c.name.lower() not in names]
    if missing:
        hint = nearest(missing[0], [c.name for c in given])
        raise RefusedError(f'{what} has a column "{short(missing[0])}", and the rows sent do not{hint}')
    if extra:
        raise RefusedError(
            f'the rows sent have a column "{short(extra[0])}", and {what} does not; choose columns with a map'
        )
    return tuple(_cast(spark, given, positions[c.name.lower()], c, what) for c in wanted)


def _cast(
    spark: SparkSession, given: tuple[Column, ...], position: int, wanted: Column, what: str
) -> Template:
    found = given[position]
    if found.type == wanted.type:
        return column(position)
    try:
        analyse(spark, [f"CAST({quoted(found.name)} AS {wanted.type})"], Scope((Side("", given),)))
    except RefusedError:
        raise RefusedError(
            f'column "{short(found.name)}" is {found.type}, and {wanted.type} in {what}; no cast leads there'
        ) from None
    return column(position).inside("CAST(", f" AS {wanted.type})")
