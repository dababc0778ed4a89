"""A change of the key of rows: the expression that makes it, and what is known of it afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import refusals_within
from streamapp.columns.row_key import RowKey
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.expression import expression
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.expressions.template import Template, column_templates
from streamapp_runtime.operators.compilation.piece import RowFlow, SqlPart

PLAIN_KEY_TYPES: Final = frozenset({"STRING", "BINARY", "TINYINT", "SMALLINT", "INT", "BIGINT", "BOOLEAN"})
"""The types whose values Arrow writes as a text with the same bytes as Spark."""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A new key, and what is then known of it."""

    key: Template
    row_key: RowKey
    plain: bool  # whether it is a column that a worker can make a key of

    def keyed(self, columns: int, *, tombstones_keep_key: bool) -> SqlPart:
        """The step that gives rows of so many columns the new key, and nothing else."""
        return SqlPart(
            column_templates(columns),
            key=self.key,
            tombstones_keep_key=tombstones_keep_key,
            plain_key=self.plain,
        )


def rekey(spark: SparkSource, text: str, flow: RowFlow) -> KeyChange:
    """A new key over a flow's columns."""
    with refusals_within("key"):
        key, _ = expression(spark, text, ColumnScope((ScopeSide("", flow.columns),)))
    row_key = flow.key.changed(None if key.column is None else flow.columns[key.column].name)
    return KeyChange(key, row_key, is_plain_key(key, flow.columns))


def is_plain_key(key: Template, columns: Sequence[Column]) -> bool:
    """Whether a key is one of these columns as it is, of a type for which no Spark is needed."""
    return key.column is not None and columns[key.column].type in PLAIN_KEY_TYPES
