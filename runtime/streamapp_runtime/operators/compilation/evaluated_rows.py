"""From a part of Spark SQL that no worker computes to the operation that has Spark evaluate it."""

from collections.abc import Sequence
from typing import Final

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.expression_client import SparkExpressions
from streamapp_runtime.expressions.generators import Generator
from streamapp_runtime.expressions.sql_types import column_list
from streamapp_runtime.expressions.template import BATCH_TIME, RECORD_KEY, ROW_ALIAS, Template
from streamapp_runtime.operators.compilation.piece import SqlPart
from streamapp_runtime.operators.compilation.row_operations import (
    RECORD_KEY_PLACE,
    EvaluateRows,
    ExplodeRows,
)

_BATCH_TIME: Final = Column("now", "TIMESTAMP")
_KEY: Final = Column(RECORD_KEY.rpartition(".")[2], "BINARY")


def evaluated_rows(part: SqlPart, columns: tuple[Column, ...]) -> EvaluateRows:
    """The operation for a part over a source with these columns."""
    where, explode = part.where, None
    if part.generator is not None:
        explode = _explode(part.generator, where, columns)
        where, columns = None, (*columns, *part.generator.columns)
    delete = None if part.delete is None else part.delete.inside("coalesce(", ", false)")
    key = None if part.key is None else _key_bytes(part.key)
    computed: list[Template] = []
    chosen = [_place(output, len(columns), computed) for output in part.outputs]
    of_key = None if key is None else _place(key, len(columns), computed)
    of_delete = None if delete is None else _place(delete, len(columns), computed)
    of_tombstone = None
    if part.key_of_tombstone is not None:
        of_tombstone = _expressions(None, [_key_bytes(part.key_of_tombstone)], ())
    return EvaluateRows(
        chosen=tuple(chosen),
        expressions=_expressions(where, computed, columns) if computed or where is not None else None,
        explode=explode,
        key=of_key,
        tombstones_keep_key=part.tombstones_keep_key,
        key_of_tombstone=of_tombstone,
        delete=of_delete,
    )


def _explode(generator: Generator, where: Template | None, columns: tuple[Column, ...]) -> ExplodeRows:
    expressions = _expressions(where, [generator.array], columns)
    return ExplodeRows(expressions, generator.places, len(generator.fields), generator.outer)


def _place(template: Template, columns: int, computed: list[Template]) -> int:
    """The position of a value: its column's, or that of a further computed one."""
    if template.column is not None:
        return template.column
    computed.append(template)
    return columns + len(computed) - 1


def _key_bytes(key: Template) -> Template:
    return key.inside("CAST(CAST(", " AS STRING) AS BINARY)")


def _expressions(
    where: Template | None, select: Sequence[Template], columns: tuple[Column, ...]
) -> SparkExpressions:
    """Expressions over those of the columns that they read, by names that are no words of a user's."""
    templates = [*select] if where is None else [where, *select]
    places = sorted({place for template in templates for place in template.columns})
    names = [f"c{place}" for place in range(len(columns))]
    read = [Column(names[place], columns[place].type) for place in places]
    if any(template.reads_batch_time for template in templates):
        read.append(_BATCH_TIME)
        places.append(BATCH_TIME)
    if any(RECORD_KEY in str(piece) for template in templates for piece in template.pieces):
        read.append(_KEY)
        places.append(RECORD_KEY_PLACE)

    def text(template: Template) -> str:
        return template.over([f"{ROW_ALIAS}.{name}" for name in names], f"{ROW_ALIAS}.{_BATCH_TIME.name}")

    condition = None if where is None else text(where)
    return SparkExpressions(column_list(tuple(read)), tuple(places), condition, tuple(map(text, select)))
