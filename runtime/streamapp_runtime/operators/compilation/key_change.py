"""A change of the key of rows: the expression that makes it, and what is known of it afterwards."""

from dataclasses import dataclass

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import refusals_within
from streamapp.columns.row_key import RowKey
from streamapp_runtime.expressions.expression import expression
from streamapp_runtime.expressions.plain.plain_operands import operand
from streamapp_runtime.expressions.plain.plain_types import LeftToSparkError, PlainValue, as_type
from streamapp_runtime.expressions.row_value import RowValue
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.expressions.template import Template, column_templates
from streamapp_runtime.operators.compilation.piece import RowFlow, SqlPart


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A new key, and what is then known of it."""

    key: Template
    row_key: RowKey
    type: str

    def keyed(self, columns: int, *, tombstones_keep_key: bool) -> SqlPart:
        """The step that gives rows of so many columns the new key, and nothing else."""
        return SqlPart(
            column_templates(columns),
            key=self.key,
            tombstones_keep_key=tombstones_keep_key,
            key_value=key_value(self.key, self.type),
        )


def rekey(spark: SparkSource, text: str, flow: RowFlow) -> KeyChange:
    """A new key over a flow's columns."""
    with refusals_within("key"):
        key, kind = expression(spark, text, ColumnScope((ScopeSide("", flow.columns),)))
    row_key = flow.key.changed(None if key.column is None else flow.columns[key.column].name)
    return KeyChange(key, row_key, kind)


def key_value(key: Template, kind: str) -> RowValue | None:
    """The text of a key of a type, as a worker computes it; None where that is for Spark."""
    value = key.in_python
    if value is None or kind == "BINARY":
        return value
    try:
        return operand(as_type(PlainValue(value, kind), "STRING"))
    except LeftToSparkError:
        return None
