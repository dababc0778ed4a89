"""The meaning of the state of operators and tables, as far as the resource says it, and edits that change it.

State that is read under another meaning gives wrong results without an error: sums of one column go on as
sums of another, and rows of one key are looked up under another. Names and types of columns are known once
the app is compiled; the runtime compares these.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from streamapp.author.problems import field_path
from streamapp.spec.problem import Problem, short
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.operator_kinds import OPERATOR_TRAITS, OperatorKind, require_rows, traits_of
from streamapp.spec.resource.operators import Aggregate, Join, Operator
from streamapp.spec.serialization import as_data
from streamapp.spec.value_types.durations import milliseconds
from streamapp.spec.value_types.expressions import (
    SqlToken,
    list_entries,
    one_spelling,
    sql_tokens,
    without_alias,
)

StateMeaning = Mapping[str, str]
"""What is said of one state, by its aspects; an aspect that is not known is absent."""

STATE_CHANGED_HINT: Final = (
    "revert the edit, or give it another name so that its state starts empty, "
    "or raise resetNonce, which drops all state of the app"
)
ACCEPT_HINT: Final = "stateChanges: accept keeps the state under the new meaning"

_KEY, _AGGREGATES, _WINDOW, _WITHIN = "key", "aggregates", "window", "time"


def state_meanings(app: StreamApp) -> dict[str, StateMeaning]:
    """The meaning of the state of every operator and of every table that operators write, by name."""
    keys = _row_keys(app)
    meanings: dict[str, StateMeaning] = {}
    for operator in app.spec.operators:
        if traits_of(operator).keeps_state:
            arriving = _arriving_keys(operator, keys)
            known = STATE_ASPECTS[OperatorKind(operator.kind)](operator.body, _key_text(arriving))
            meanings[operator.name] = {aspect: text for aspect, text in known.items() if text is not None}
    writers = [operator for operator in app.spec.operators if traits_of(operator).writes_tables]
    for table in app.spec.tables:
        fillers = [_arriving_keys(operator, keys) for operator in writers if table.name in operator.tables]
        only_filled = all(traits_of(each).fills_tables for each in writers if table.name in each.tables)
        text = _key_text(_united(fillers)) if fillers and only_filled else None
        meanings[table.name] = {} if text is None else {_KEY: text}
    return meanings


def changed_meanings(app: StreamApp, before: Mapping[str, StateMeaning]) -> Iterator[Problem]:
    """Each state that the app would read under another meaning than before."""
    if app.spec.state_changes == "accept":
        return
    for name, meaning in state_meanings(app).items():
        earlier = before.get(name, {})
        differing = [aspect for aspect in earlier if meaning.get(aspect, earlier[aspect]) != earlier[aspect]]
        if differing:
            changes = ", ".join(
                f"{aspect} was {short(earlier[aspect], 200)} and is {short(meaning[aspect], 200)}"
                for aspect in differing
            )
            yield state_changed(app, name, changes, f"{STATE_CHANGED_HINT}; {ACCEPT_HINT}")


def state_changed(app: StreamApp, name: str, change: str, hint: str = STATE_CHANGED_HINT) -> Problem:
    """The refusal of an edit after which the state of an operator or a table would mean something else."""
    tables = [table.name for table in app.spec.tables]
    path = f"spec.tables[{tables.index(name)}]" if name in tables else field_path(app, name)
    message = f"the state of {name} was written with another meaning: {change}; {hint}"
    return Problem(0, 0, path, message, Reason.STATE_CHANGED)


def state_declarations(app: StreamApp) -> dict[str, str]:
    """The declarations of tables and operators in the resource, on one line each."""
    spec = as_data(app)["spec"]
    return {
        declared["name"]: ", ".join(
            f"{field}: {value}" for field, value in declared.items() if field != "name"
        )
        for declared in [*spec.get("operators", ()), *spec.get("tables", ())]
    }


RowKeys = frozenset[str] | None
"""The expressions of the keys of rows, one for each way that rows come; None where one is unknown."""


def _row_keys(app: StreamApp) -> dict[str, RowKeys]:
    """The keys of the rows of each stream and operator."""
    keys: dict[str, RowKeys] = {
        stream.name: None if stream.key is None else frozenset({_normal(stream.key)})
        for stream in app.spec.streams
    }
    operators = {operator.name: operator for operator in app.spec.operators}
    waiting = list(operators)
    while waiting:
        operator = operators[waiting[-1]]
        if unknown_sources := [name for name in operator.sources if name in operators and name not in keys]:
            waiting += unknown_sources
            continue
        waiting.pop()
        own_key = getattr(operator.body, "key", None) if traits_of(operator).key_is_of_rows else None
        arriving_keys = _arriving_keys(operator, keys)
        keys[operator.name] = arriving_keys if own_key is None else frozenset({_normal(own_key)})
    return keys


def _arriving_keys(operator: Operator, keys: Mapping[str, RowKeys]) -> RowKeys:
    return _united([keys.get(source) for source in operator.sources])


def _united(keys: list[RowKeys]) -> RowKeys:
    known = [each for each in keys if each is not None]
    return frozenset().union(*known) if known and len(known) == len(keys) else None


def _key_text(keys: RowKeys) -> str | None:
    return None if keys is None else " or ".join(sorted(keys))


def _aggregate_aspects(body: Aggregate, arriving: str | None) -> dict[str, str | None]:
    window = "none"
    if body.window is not None:
        kind, lengths = body.window.kind, body.window.body.model_dump()
        window = " ".join([kind, *(f"{name} {milliseconds(text)} ms" for name, text in lengths.items())])
    items = list_entries(sql_tokens(body.aggregates))
    functions = ", ".join(one_spelling(_without_name(item)) for item in items)
    return {
        _AGGREGATES: functions,
        _KEY: arriving if body.key is None else _normal(body.key),
        _WINDOW: window,
    }


def _join_aspects(body: Join, arriving: str | None) -> dict[str, str | None]:
    return {_KEY: arriving, _WITHIN: f"{body.time} time within {milliseconds(body.within)} ms"}


def _key_aspect(_: Any, arriving: str | None) -> dict[str, str | None]:
    return {_KEY: arriving}


STATE_ASPECTS: Mapping[OperatorKind, Callable[[Any, str | None], dict[str, str | None]]] = {
    OperatorKind.AGGREGATE: _aggregate_aspects,
    OperatorKind.JOIN: _join_aspects,
    OperatorKind.PROCESS: _key_aspect,
}
"""What counts of each kind that keeps state."""

require_rows(
    "STATE_ASPECTS", STATE_ASPECTS, [kind for kind, traits in OPERATOR_TRAITS.items() if traits.keeps_state]
)


def _normal(expression: str) -> str:
    """An expression with one spelling of spaces and of letters outside of quotes."""
    return one_spelling(sql_tokens(expression))


def _without_name(aggregate: Sequence[SqlToken]) -> Sequence[SqlToken]:
    """An aggregate without the name of its column, behind AS or a bracket: state does not have it."""
    if len(aggregate) < 2 or aggregate[-1].kind not in {"word", "name"}:
        return aggregate
    before = aggregate[-2]
    is_named = before.kind == "close" or before.text.lower() == "as"
    return without_alias(aggregate) if is_named else aggregate
