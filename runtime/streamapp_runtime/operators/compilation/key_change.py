"""A change of the key of rows: the expression that makes it, and what is known of it afterwards."""

from pyspark.sql import SparkSession

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import refusals_within
from streamapp.columns.row_key import RowKey
from streamapp_runtime.expressions.expression import expression
from streamapp_runtime.expressions.template import Template
from streamapp_runtime.operators.compilation.piece import RowFlow


def rekey(spark: SparkSession, text: str, flow: RowFlow) -> tuple[Template, RowKey]:
    """A new key over a flow's columns, and what is then known of it."""
    with refusals_within("key"):
        key, _ = expression(spark, text, ColumnScope((ScopeSide("", flow.columns),)))
    return key, flow.key.changed(None if key.column is None else flow.columns[key.column].name)
