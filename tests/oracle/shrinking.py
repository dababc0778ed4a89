"""A failing case made smaller, for as long as it still fails: fewer operators, steps, records and values."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tests.oracle.cases.case import Case, Edit, InputRecord, Send
from tests.oracle.cases.resource_reading import Part, kind_of, sources_of

Fails = Callable[[Case], bool]
_Item = TypeVar("_Item")


def shrunk(case: Case, fails: Fails, most_trials: int = 400) -> Case:
    """The smallest case that was found to fail within so many trials."""
    left = most_trials
    progress = True
    while progress:
        progress = False
        for candidate in _smaller(case):
            if not left:
                return case
            left -= 1
            if fails(candidate):
                case, progress = candidate, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases that are each a little smaller, the greatest steps first."""
    for operators in _fewer_operators(case.spec["operators"]):
        yield _with_operators(case, operators)
    for steps in _fewer(case.steps):
        yield replace(case, steps=tuple(steps))
    if case.processors > 1:
        yield replace(case, processors=1)
    for place, step in enumerate(case.steps):
        if isinstance(step, Send):
            for records in _fewer(step.records):
                yield _with_records(case, place, records)
    if case.partitions > 1:
        yield _with_partitions(case, case.partitions - 1)
    if "batch" in case.spec:
        yield _with_spec(case, {key: value for key, value in case.spec.items() if key != "batch"})
    yield from _plainer_operators(case)
    yield from _plainer_values(case)


def _fewer(items: Sequence[_Item]) -> Iterator[list[_Item]]:
    """Halves first, then all but one."""
    size = len(items) // 2
    while size > 0:
        for start in range(0, len(items), size):
            yield [*items[:start], *items[start + size :]]
        size //= 2


def _fewer_operators(operators: Sequence[Part]) -> Iterator[list[Part]]:
    """Without one and all that reads it, or with its source in its place."""
    for operator in operators:
        gone = {operator["name"]}
        while more := {
            one["name"]
            for one in operators
            if one["name"] not in gone and gone & set(sources_of(kind_of(one)[1]))
        }:
            gone |= more
        yield [one for one in operators if one["name"] not in gone]
    for operator in operators:
        sources = sources_of(kind_of(operator)[1])
        for source in sources:
            others = [one for one in operators if one is not operator]
            yield [_reading(one, operator["name"], source) for one in others]


def _reading(operator: Part, old: str, new: str) -> Part:
    kind, body = kind_of(operator)
    source = body["from"]
    if isinstance(source, str):
        return {**operator, kind: {**body, "from": new if source == old else source}}
    return {**operator, kind: {**body, "from": [new if one == old else one for one in source]}}


def _with_operators(case: Case, operators: Sequence[Part]) -> Case:
    """The case with these operators, and the streams and tables that they name."""
    bodies = [kind_of(one)[1] for one in operators]
    edits = [step for step in case.steps if isinstance(step, Edit)]
    named_tables = {body["table"] for body in bodies if "table" in body}
    named_tables |= {table for body in bodies for table in body.get("tables", ())}
    named_tables |= {step.body.get("table") for step in edits if step.body}
    tables = [table for table in case.spec["tables"] if table["name"] in named_tables]
    named = {source for body in bodies for source in sources_of(body)} | {
        body.get("stream") for body in bodies
    }
    named |= {step.body.get("stream") for step in edits if step.body}
    named |= {side["stream"] for table in tables for side in table.get("sideInputs", ())}
    streams = [stream for stream in case.spec["streams"] if stream["name"] in named]
    names = {stream["name"] for stream in streams}
    steps = [step for step in case.steps if not isinstance(step, Send) or step.stream in names]
    smaller = _with_spec(case, {**case.spec, "operators": operators, "tables": tables, "streams": streams})
    return replace(smaller, steps=tuple(steps))


def _with_spec(case: Case, spec: Part) -> Case:
    return replace(case, resource={**case.resource, "spec": spec})


def _with_partitions(case: Case, partitions: int) -> Case:
    operators = []
    for operator in case.spec["operators"]:
        kind, body = kind_of(operator)
        operators.append(
            {**operator, kind: {**body, "partitions": partitions}} if "partitions" in body else operator
        )
    return replace(_with_spec(case, {**case.spec, "operators": operators}), partitions=partitions)


def _with_records(case: Case, place: int, records: Sequence[InputRecord]) -> Case:
    step = case.steps[place]
    if not isinstance(step, Send):
        raise TypeError("only a send has records")
    steps = [*case.steps]
    steps[place] = replace(step, records=tuple(records))
    return replace(case, steps=tuple(steps))


def _plainer_operators(case: Case) -> Iterator[Case]:
    """Operators with fewer entries in their lists, and without an option."""
    for place, operator in enumerate(case.spec["operators"]):
        kind, body = kind_of(operator)
        for option in ("allowedLateness", "emit", "where", "deleteWhere", "type"):
            if option in body and not (option == "where" and kind == "filter"):
                yield _with_body(case, place, {key: value for key, value in body.items() if key != option})


def _with_body(case: Case, place: int, body: Part) -> Case:
    operators = [*case.spec["operators"]]
    operators[place] = {"name": operators[place]["name"], kind_of(operators[place])[0]: body}
    return _with_spec(case, {**case.spec, "operators": operators})


def _plainer_values(case: Case) -> Iterator[Case]:
    """A column null in all records of a send that does not choose its key or time."""
    for place, step in enumerate(case.steps):
        if isinstance(step, Send):
            names = {
                name
                for record in step.records
                for name, value in (record.row or {}).items()
                if value is not None
            }
            for name in sorted(names - {"id", "k", "ts"}):
                records = [_without(record, name) for record in step.records]
                yield _with_records(case, place, records)


def _without(record: InputRecord, name: str) -> InputRecord:
    row: dict[str, Any] | None = None if record.row is None else {**record.row, name: None}
    return replace(record, row=row)
