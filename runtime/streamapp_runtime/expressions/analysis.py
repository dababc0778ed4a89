"""The names and types that Spark gives expressions before any row is there, or why they are wrong."""

import json
from dataclasses import dataclass, replace

from pyspark.errors import PySparkException
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_type

from streamapp.columns.column_scope import ColumnScope
from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.spec.problem import short
from streamapp.spec.reasons import Reason
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.declared_types import UnheldTypeError, type_name
from streamapp_runtime.expressions.plain.plain_expression import PlainCall, plain_entries, plain_type
from streamapp_runtime.expressions.spark_source import SparkSource, TextRefusedError, spark_jvm
from streamapp_runtime.expressions.sql_types import columns_of_schema, ddl, quoted


@dataclass(frozen=True, slots=True)
class AllowedFunctions:
    """The functions that may be in a list beside plain expressions."""

    generator: bool = False
    aggregates: bool = False


ROW_FUNCTIONS = AllowedFunctions()


def select_list_columns(
    spark: SparkSource,
    items: list[str],
    scope: ColumnScope,
    allowed: AllowedFunctions = ROW_FUNCTIONS,
    group_by: str = "",
) -> tuple[Column, ...]:
    """Names and types of a select list over a scope; RefusedError tells what Spark refuses, or we do."""
    plain = plain_columns(items, scope, allowed)
    return columns_by_spark(spark, items, scope, allowed, group_by) if plain is None else plain


def columns_by_spark(
    spark: SparkSource,
    items: list[str],
    scope: ColumnScope,
    allowed: AllowedFunctions = ROW_FUNCTIONS,
    group_by: str = "",
) -> tuple[Column, ...]:
    """The columns that Spark's own analyser makes of a select list; RefusedError as above."""
    grouping = f" GROUP BY {group_by}" if group_by else ""
    entries = ",\n".join(items)
    query = f"SELECT {entries}\nFROM (SELECT {null_row_sql(scope)}){grouping}"
    try:
        analysed = spark_jvm(spark, entries).analysed(query)
    except TextRefusedError as refused:
        raise CompileRefusedError(str(refused)) from None
    if "Aggregate" in analysed.nodes and not allowed.aggregates:
        raise CompileRefusedError("an aggregate function has no place here; use an aggregate operator")
    if "Generate" in analysed.nodes and not allowed.generator:
        raise CompileRefusedError(
            "a generator such as explode makes many rows of one; use a flatMap operator"
        )
    if not analysed.is_deterministic:
        raise CompileRefusedError(
            "gives another answer each time it is asked, so a repeated batch would not give the same rows; "
            "use only functions of the row"
        )
    return _checked(t.StructType.fromJson(json.loads(analysed.schema)))


def plain_columns(
    items: list[str], scope: ColumnScope, allowed: AllowedFunctions
) -> tuple[Column, ...] | None:
    """The columns of a list whose entries all say them without Spark; None where one does not."""
    entries = [entry for item in items for entry in plain_entries(item) or (None,)]
    if any(
        entry is None or isinstance(entry.value, PlainCall) is not allowed.aggregates for entry in entries
    ):
        return None
    columns = [plain_type(item, scope) for item in items]
    return None if None in columns else tuple(column for column in columns if column)


def canonical(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Declared columns with their types as Spark names them, and NOT NULL where that was declared."""
    for column in columns:
        if " NOT NULL" in column.type:
            raise CompileRefusedError(
                f'column "{short(column.name)}" has NOT NULL inside its type, which nothing checks; '
                "say it of the whole column or leave it out",
                reason=Reason.NOT_YET_SUPPORTED,
            )
    return tuple(replace(column, type=_held_type(column)) for column in columns)


def _held_type(column: Column) -> str:
    try:
        return type_name(column.type)
    except UnheldTypeError as unheld:
        raise _unheld(column.name, column.type) from unheld


def _unheld(name: str, kind: str) -> CompileRefusedError:
    return CompileRefusedError(
        f'column "{short(name)}" is {kind}, which rows cannot hold; cast it', reason=Reason.NOT_YET_SUPPORTED
    )


def _checked(schema: t.StructType) -> tuple[Column, ...]:
    for field in schema.fields:
        name = short(field.name)
        if "VOID" in ddl(field.dataType):
            raise CompileRefusedError(
                f'column "{name}" is always null and has no type; write CAST(NULL AS <type>)'
            )
        try:
            to_arrow_type(field.dataType, timezone="UTC")
        except PySparkException:
            raise _unheld(field.name, ddl(field.dataType)) from None
    return columns_of_schema(schema)


def null_row_sql(scope: ColumnScope) -> str:
    """A row of nulls with all names of the scope; a side is a struct too, so that `side.column` works."""
    columns = scope.columns
    nulls = [
        f"CAST(NULL AS {columns[p].type}) AS {quoted(columns[p].name)}" for p in scope.by_name().values()
    ]
    for side in scope.sides:
        if side.name and side.columns and scope.side(side.name) is not None:
            fields = ", ".join(f"{quoted(c.name)}: {c.type}" for c in side.columns)
            nulls.append(f"CAST(NULL AS STRUCT<{fields}>) AS {quoted(side.name)}")
    return ", ".join(nulls) or "1 AS `a row without columns`"
