"""From the text of an expression to a template: its columns become holes, its clock the batch's time."""

from dataclasses import replace

from streamapp.columns.column_scope import ColumnScope
from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.columns.spark_functions import WORDS_FOR_NOW
from streamapp_runtime.expressions.analysis import select_list_columns
from streamapp_runtime.expressions.catalyst import FunctionCall, SelectItem, SqlName, read_select_items
from streamapp_runtime.expressions.plain.plain_types import PlainValue
from streamapp_runtime.expressions.plain.plain_value import plain_value
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.expressions.sql_types import quoted
from streamapp_runtime.expressions.template import BATCH_TIME, Template

TemplatePieces = tuple[str | int, ...]
ReplacedRanges = list[tuple[int, int, TemplatePieces]]

# A DataFrame is built once and run for every batch, so that Spark's own clock would stand still.
_CLOCKS: dict[str, TemplatePieces] = {
    "current_timestamp": (BATCH_TIME,),
    "now": (BATCH_TIME,),
    "localtimestamp": ("CAST(", BATCH_TIME, " AS TIMESTAMP_NTZ)"),
    "current_date": ("CAST(", BATCH_TIME, " AS DATE)"),
    "curdate": ("CAST(", BATCH_TIME, " AS DATE)"),
    "unix_timestamp": ("unix_timestamp(", BATCH_TIME, ")"),
}
_REFUSED_CLOCKS = frozenset({"current_time"})


def single_item(spark: SparkSource, text: str) -> SelectItem:
    """The only entry of a text that has to be one expression."""
    items = read_select_items(spark, text)
    if len(items) != 1 or items[0].star or items[0].alias:
        raise CompileRefusedError("has to be one expression, without an alias")
    return items[0]


def expression(spark: SparkSource, text: str, scope: ColumnScope) -> tuple[Template, str]:
    """One expression and its type."""
    plain = plain_value(text, scope)
    if plain is not None:
        return plain_template(text, plain, scope), plain.type
    item = single_item(spark, text)
    template = bind(item, scope)
    (column,) = select_list_columns(spark, [item.text], scope)
    return template, column.type


def plain_template(text: str, plain: PlainValue, scope: ColumnScope, start: int = 0) -> Template:
    """An expression whose columns Spark need not find; `start` is its place in the text that was read."""
    lead = len(text) - len(text.lstrip()) + start
    names = (SqlName(name.parts, name.start - lead, name.end - lead) for name in plain.names)
    return replace(bind(SelectItem(text.strip(), (), tuple(names), ()), scope), value=plain.value)


def bind(item: SelectItem, scope: ColumnScope, calls: ReplacedRanges | None = None) -> Template:
    """The item's expression over a scope's positions; `calls` are ranges that something else stands for."""
    replaced: ReplacedRanges = list(calls or [])
    for start, end, clock in _clocks(item):
        if not _covered(start, replaced):
            replaced.append((start, end, clock))
    for column in item.columns:
        if not _covered(column.start, replaced):
            replaced.append((column.start, column.end, _column(column, scope)))
    pieces: list[str | int] = []
    end_of_last = 0
    for start, end, replacement in sorted(replaced):
        pieces += [item.text[end_of_last:start], *replacement]
        end_of_last = end
    return Template(tuple(piece for piece in (*pieces, item.text[end_of_last:]) if piece != ""))


def _covered(place: int, replaced: ReplacedRanges) -> bool:
    return any(start <= place < end for start, end, _ in replaced)


def _column(column: SqlName, scope: ColumnScope) -> TemplatePieces:
    match = scope.find(column.parts)
    if match is not None:
        position, fields = match
        path = "".join(f".{quoted(field)}" for field in fields)
        return (position, path) if path else (position,)
    name = column.parts[0].lower()
    if len(column.parts) == 1 and name in WORDS_FOR_NOW:
        return _CLOCKS[name]
    raise CompileRefusedError(scope.unknown(column.parts))


def _clocks(item: SelectItem) -> ReplacedRanges:
    ranges: ReplacedRanges = []
    for call in item.calls:
        name = call.parts[-1].lower()
        if name in _REFUSED_CLOCKS:
            raise CompileRefusedError(
                f"{name} is not offered; use current_timestamp(), the time of the batch"
            )
        if name in _CLOCKS and _is_empty(item.text, call):
            ranges.append((call.start, call.end, _CLOCKS[name]))
    return ranges


def _is_empty(text: str, call: FunctionCall) -> bool:
    inside = text[call.start : call.end].partition("(")[2].rpartition(")")[0]
    return not inside.strip()
