"""Aggregates: arguments before, partial states in the worker, and what is made of the states after.

`sum(a) / count(*)` keeps two states per key and divides them in SQL when a total goes out.
"""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from streamapp.spec.problem import short
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.program.analysis import Allowed, analyse
from streamapp_runtime.program.catalyst import Call, Item, brackets, read_items
from streamapp_runtime.program.expression import Pieces, bind, expression
from streamapp_runtime.program.operations import Partial
from streamapp_runtime.program.refusal import RefusedError
from streamapp_runtime.program.scope import Scope, Side
from streamapp_runtime.program.selection import condition, unique
from streamapp_runtime.program.sql_types import quoted
from streamapp_runtime.program.template import Template

FUNCTIONS = ("count", "sum", "min", "max", "avg", "mean")


@dataclass(frozen=True, slots=True)
class State:
    """One partial state and what it is taken over; `function` is that of `Partial`."""

    function: str
    argument: Template | None
    argument_type: str
    type: str


@dataclass(frozen=True, slots=True)
class Split:
    """An aggregate's list taken apart: states, and what is put out, over key columns, window and states."""

    states: tuple[State, ...]
    columns: tuple[Column, ...]
    outputs: tuple[Template, ...]


def split(spark: SparkSession, text: str, rows: Scope, before: tuple[Column, ...]) -> Split:
    """Take a list of aggregates apart; `before` are the key and window columns, at the first positions."""
    items = read_items(spark, text)
    if any(item.star for item in items):
        raise RefusedError("has a *; allowed are aggregate functions and what is made of them")
    states: list[State] = []
    columns: list[Column] = []
    outputs: list[Template] = []
    for item in items:
        output, column = _item(spark, item, rows, before, states)
        columns.append(column)
        outputs.append(output)
    return Split(tuple(states), unique((*before, *columns))[len(before) :], tuple(outputs))


def partials(states: tuple[State, ...], positions: list[int | None]) -> tuple[Partial, ...]:
    """The states as the worker keeps them, once it is known where their arguments stand."""
    return tuple(Partial(s.function, p, s.type) for s, p in zip(states, positions, strict=True))


def _item(
    spark: SparkSession, item: Item, rows: Scope, before: tuple[Column, ...], states: list[State]
) -> tuple[Template, Column]:
    (found,) = analyse(spark, [item.whole], _grouped(rows, before), Allowed(aggregates=True), _by(before))
    replaced: list[tuple[int, int, Pieces]] = []
    # Inner calls first: what holds an aggregate is none itself.
    for call in sorted(item.calls, key=lambda call: call.end - call.start):
        holds_one = any(call.start <= start and end <= call.end for start, end, _ in replaced)
        if not holds_one and _is_aggregate(spark, item, call, rows):
            pieces = _states(spark, item, call, rows, len(before), states)
            replaced.append((call.start, call.end, pieces))
    output = bind(item, Scope((Side("", before),)), replaced)
    whole = len(output.pieces) == 1
    return (output if whole else output.inside("CAST(", f" AS {found.type})")), found


def _states(
    spark: SparkSession, item: Item, call: Call, rows: Scope, first: int, states: list[State]
) -> Pieces:
    """The states of one aggregate function, and what gives its value from them."""
    function = call.parts[-1].lower()
    if function not in FUNCTIONS:
        allowed = ", ".join(FUNCTIONS[:-1])
        raise RefusedError(f"{short(function)} cannot be kept as a running total; allowed are {allowed}")
    if call.distinct:
        raise RefusedError(
            f"{function}(DISTINCT ...) would have to keep every value; count after a partitionBy by it"
        )
    arguments, within = brackets(item.text, call)
    if len(arguments) != 1:
        raise RefusedError(f"{function} takes one argument")
    text = item.text[slice(*arguments[0])].strip()
    only = condition(spark, item.text[slice(*within)].strip(), rows) if within else None
    if function == "count":
        return (_place(_count(spark, text, only, rows), first, states),)
    argument, kind = expression(spark, text, rows)
    (total,) = analyse(spark, [f"{function}({text})"], rows, Allowed(aggregates=True))
    if function in {"avg", "mean"}:
        return _average(spark, _only(argument, only), kind, total.type, first, states)
    state = State(function, _only(argument, only), kind, total.type)
    return (_place(state, first, states),)


def _count(spark: SparkSession, text: str, only: Template | None, rows: Scope) -> State:
    """A count of rows, or of those in which the argument is not null."""
    if text == "*":
        argument = None if only is None else _only(Template(("1",)), only)
        return State("count", argument, "INT", "BIGINT")
    argument, kind = expression(spark, text, rows)
    return State("count", _only(argument, only), kind, "BIGINT")


def _average(
    spark: SparkSession, argument: Template, kind: str, total: str, first: int, states: list[State]
) -> Pieces:
    """A sum and a count; the sum has the type that Spark's own average sums in."""
    summed, taken = kind, argument
    if not kind.startswith("DECIMAL"):
        summed, taken = "DOUBLE", argument.inside("CAST(", " AS DOUBLE)") if kind != "DOUBLE" else argument
    (sum_type,) = analyse(spark, [f"sum(CAST(NULL AS {summed}))"], Scope(()), Allowed(aggregates=True))
    sums = _place(State("sum", taken, summed, sum_type.type), first, states)
    counts = _place(State("count", argument, kind, "BIGINT"), first, states)
    return ("CAST(try_divide(", sums, ", ", counts, f") AS {total})")


def _only(argument: Template, condition: Template | None) -> Template:
    if condition is None:
        return argument
    return Template(("CASE WHEN ", *condition.pieces, " THEN ", *argument.pieces, " END"))


def _place(state: State, first: int, states: list[State]) -> int:
    """The position of a state; one that several functions need is kept once."""
    if state not in states:
        states.append(state)
    return first + states.index(state)


def _is_aggregate(spark: SparkSession, item: Item, call: Call, rows: Scope) -> bool:
    """Whether a function reduces rows: Spark knows, and refuses it where rows are not reduced."""
    name = call.parts[-1].lower()
    if name in FUNCTIONS:
        return True
    text = item.text[call.start : call.end]
    try:
        analyse(spark, [text], rows)
    except RefusedError as refused:
        return "aggregate function has no place" in refused.message
    return False


def _grouped(rows: Scope, before: tuple[Column, ...]) -> Scope:
    return Scope((Side("", before), *rows.sides))


def _by(before: tuple[Column, ...]) -> str:
    return ", ".join(quoted(column.name) for column in before)
