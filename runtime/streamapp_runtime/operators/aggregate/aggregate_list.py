"""Aggregates: arguments before, partial states in the worker, and what is made of the states after.

`sum(a) / count(*)` keeps two states per key and divides them in SQL when a total goes out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from streamapp.columns.column_rules import require_running_total, require_unique
from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.columns.spark_functions import RUNNING_TOTALS
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.analysis import AllowedFunctions, select_list_columns
from streamapp_runtime.expressions.catalyst import FunctionCall, SelectItem, call_arguments, read_select_items
from streamapp_runtime.expressions.expression import TemplatePieces, bind, expression
from streamapp_runtime.expressions.select_list import condition
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.expressions.sql_types import quoted
from streamapp_runtime.expressions.template import Template
from streamapp_runtime.operators.aggregate.totals_operation import PartialTotal


@dataclass(frozen=True, slots=True)
class PartialState:
    """One partial state and what it is taken over; `function` is that of `Partial`."""

    function: str
    argument: Template | None
    argument_type: str
    type: str

    def over(self, names: Sequence[str]) -> str:
        """The total as people write it."""
        return f"{self.function}({'*' if self.argument is None else self.argument.over(names, 'now()')})"


@dataclass(frozen=True, slots=True)
class AggregateList:
    """An aggregate's list taken apart: states, and what is put out, over key columns, window and states."""

    states: tuple[PartialState, ...]
    columns: tuple[Column, ...]
    outputs: tuple[Template, ...]


def split_aggregates(
    spark: SparkSource, text: str, rows: ColumnScope, before: tuple[Column, ...]
) -> AggregateList:
    """Take a list of aggregates apart; `before` are the key and window columns, at the first positions."""
    items = read_select_items(spark, text)
    if any(item.star for item in items):
        raise CompileRefusedError("has a *; allowed are aggregate functions and what is made of them")
    states: list[PartialState] = []
    columns: list[Column] = []
    outputs: list[Template] = []
    for item in items:
        output, column = _item(spark, item, rows, before, states)
        columns.append(column)
        outputs.append(output)
    return AggregateList(tuple(states), require_unique((*before, *columns))[len(before) :], tuple(outputs))


def partial_totals(
    states: tuple[PartialState, ...], positions: list[int | None], names: Sequence[str]
) -> tuple[PartialTotal, ...]:
    """The states as the worker keeps them, once it is known where their arguments stand.

    `names` are those of the columns that the arguments were written over.
    """
    return tuple(
        PartialTotal(state.function, position, state.type, state.over(names))
        for state, position in zip(states, positions, strict=True)
    )


def _item(
    spark: SparkSource,
    item: SelectItem,
    rows: ColumnScope,
    before: tuple[Column, ...],
    states: list[PartialState],
) -> tuple[Template, Column]:
    (column,) = select_list_columns(
        spark, [item.whole], _grouped(rows, before), AllowedFunctions(aggregates=True), _by(before)
    )
    replaced: list[tuple[int, int, TemplatePieces]] = []
    # Inner calls first: what holds an aggregate is none itself.
    for call in sorted(item.calls, key=lambda call: call.end - call.start):
        holds_one = any(call.start <= start and end <= call.end for start, end, _ in replaced)
        if not holds_one and _is_aggregate(spark, item, call, rows):
            pieces = _states(spark, item, call, rows, len(before), states)
            replaced.append((call.start, call.end, pieces))
    output = bind(item, ColumnScope((ScopeSide("", before),)), replaced)
    whole = len(output.pieces) == 1
    return (output if whole else output.inside("CAST(", f" AS {column.type})")), column


def _states(
    spark: SparkSource,
    item: SelectItem,
    call: FunctionCall,
    rows: ColumnScope,
    first: int,
    states: list[PartialState],
) -> TemplatePieces:
    """The states of one aggregate function, and what gives its value from them."""
    function = call.parts[-1].lower()
    require_running_total(function, distinct=call.distinct)
    arguments, within = call_arguments(item.text, call)
    if len(arguments) != 1:
        raise CompileRefusedError(f"{function} takes one argument")
    (text,) = arguments
    only = condition(spark, within, rows) if within else None
    if function == "count":
        return (_place(_count(spark, text, only, rows), first, states),)
    argument, kind = expression(spark, text, rows)
    (total,) = select_list_columns(spark, [f"{function}({text})"], rows, AllowedFunctions(aggregates=True))
    if function in {"avg", "mean"}:
        return _average(spark, _only(argument, only), kind, total.type, first, states)
    state = PartialState(function, _only(argument, only), kind, total.type)
    return (_place(state, first, states),)


def _count(spark: SparkSource, text: str, only: Template | None, rows: ColumnScope) -> PartialState:
    """A count of rows, or of those in which the argument is not null."""
    if text == "*":
        argument = None if only is None else _only(Template(("1",)), only)
        return PartialState("count", argument, "INT", "BIGINT")
    argument, kind = expression(spark, text, rows)
    return PartialState("count", _only(argument, only), kind, "BIGINT")


def _average(
    spark: SparkSource, argument: Template, kind: str, total: str, first: int, states: list[PartialState]
) -> TemplatePieces:
    """A sum and a count; the sum has the type that Spark's own average sums in."""
    summed, operand = kind, argument
    if not kind.startswith("DECIMAL"):
        summed, operand = "DOUBLE", argument.inside("CAST(", " AS DOUBLE)") if kind != "DOUBLE" else argument
    (sum_type,) = select_list_columns(
        spark, [f"sum(CAST(NULL AS {summed}))"], ColumnScope(()), AllowedFunctions(aggregates=True)
    )
    sums = _place(PartialState("sum", operand, summed, sum_type.type), first, states)
    counts = _place(PartialState("count", argument, kind, "BIGINT"), first, states)
    return ("CAST(try_divide(", sums, ", ", counts, f") AS {total})")


def _only(argument: Template, condition: Template | None) -> Template:
    if condition is None:
        return argument
    return Template(("CASE WHEN ", *condition.pieces, " THEN ", *argument.pieces, " END"))


def _place(state: PartialState, first: int, states: list[PartialState]) -> int:
    """The position of a state; one that several functions need is kept once."""
    if state not in states:
        states.append(state)
    return first + states.index(state)


def _is_aggregate(spark: SparkSource, item: SelectItem, call: FunctionCall, rows: ColumnScope) -> bool:
    """True if a function reduces rows: Spark knows, and refuses it where rows are not reduced."""
    name = call.parts[-1].lower()
    if name in RUNNING_TOTALS:
        return True
    text = item.text[call.start : call.end]
    try:
        select_list_columns(spark, [text], rows)
    except CompileRefusedError as refused:
        return "aggregate function has no place" in refused.message
    return False


def _grouped(rows: ColumnScope, before: tuple[Column, ...]) -> ColumnScope:
    return ColumnScope((ScopeSide("", before), *rows.sides))


def _by(before: tuple[Column, ...]) -> str:
    return ", ".join(quoted(column.name) for column in before)
