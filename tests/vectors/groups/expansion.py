"""Judges expansion.json: forms tasks step by step, each from what the step before left, and compares."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import lcm
from typing import Any

from streamapp.spec.reasons import Reason
from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, initial_index, modulo
from streamapp.tasks.groupers.changelog_partitions import changelog_partition_count
from streamapp.tasks.groupers.grouper import BY_PARTITION, BY_STREAM_PARTITION, SINGLE_TASK, Grouper
from streamapp.tasks.groupers.grouping_request import Assignment, GroupingRequest
from streamapp.tasks.groupers.statefulness import StoreTraits, is_stateful
from streamapp.tasks.groupers.task_grouping import group_tasks
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from tests.harness.core.adopted_layout import adopted_layout

_GROUPERS = {
    "groupbypartition": BY_PARTITION,
    "groupbysystemstreampartition": BY_STREAM_PARTITION,
    "allssptosingletask": SINGLE_TASK,
}
_FORMS = ("fixedtasks", "withfixedtasknum", "factory", "grouper")
_REASONS = {reason.name: reason for reason in Reason}


@dataclass(slots=True)
class _App:
    """What lives on from step to step."""

    layout: Layout | None
    tasks: Mapping[str, set[str]]  # the model in force
    counts: dict[str, int] = field(default_factory=dict)
    owners: dict[str, list[str]] = field(default_factory=dict)  # of streams last seen, by partition


def run(vector: dict[str, Any]) -> list[str]:
    if vector["grouper"] == "mapper":
        return list(_calls(vector["mapper"]))
    try:
        differences = list(_steps(vector))
        also = vector.get("also", [])
        for more in also if isinstance(also, list) else [also]:
            steps = more.get("steps") or [more]
            differences += _steps({**vector, "previous": None, **more, "steps": steps})
    except ValueError as error:  # a partition or grouper of a kind that is not offered
        return [str(error)]
    return differences


def _calls(calls: list[dict[str, Any]]) -> Iterator[str]:
    for call in calls:
        found = initial_index(call["current"], call["current_count"], call["previous_count"])
        expected = call.get("expect")
        met = found == expected if isinstance(expected, int) else isinstance(found, Refusal)
        if not met:
            yield f"{call} gives {found}"


def _steps(vector: dict[str, Any]) -> Iterator[str]:
    app = _started(vector)
    for number, step in enumerate(vector["steps"]):
        settings = {**vector, **step}
        answer = group_tasks(_request(settings, app.layout))
        expect = step["expect"]
        if "outcome" in expect:
            yield from _outcome(number, expect, answer)
        if isinstance(answer, Assignment):
            if _stateful(settings) and "algorithm_table" not in settings:
                yield from _moved_keys(number, app, settings, answer)
            _accept(app, settings, answer)
        refused_instead = isinstance(answer, Refusal) and expect.get("alternative") == "rejected"
        if not refused_instead:
            yield from _compared(number, expect, app)


def _started(vector: dict[str, Any]) -> _App:
    previous = {
        task: [Partition.parse(text) for text in partitions]
        for task, partitions in (vector.get("previous") or {}).items()
    }
    changelog = vector.get("previous_changelog") or {}
    broadcast = _broadcast(vector)
    if not (previous or changelog):
        return _App(None, {})
    layout = adopted_layout(previous, _grouper(vector["grouper"]), broadcast, changelog)
    app = _App(layout, {task: set(map(str, partitions)) for task, partitions in previous.items()})
    _remember_owners(app, {task: set(partitions) for task, partitions in previous.items()}, broadcast)
    return app


def _request(settings: dict[str, Any], layout: Layout | None) -> GroupingRequest:
    processors = settings.get("processors")
    return GroupingRequest(
        streams={
            name: range(partitions) if isinstance(partitions, int) else list(partitions)
            for name, partitions in settings["streams"].items()
        },
        grouper=_grouper(settings["grouper"]),
        stateful=_stateful(settings),
        broadcast=_broadcast(settings),
        processors=None if processors is None else tuple(str(processor) for processor in processors),
        copartition_groups=settings.get("copartition_groups") or (),
        algorithm=_algorithm(settings.get("algorithm_table")),
        layout=layout,
    )


def _grouper(name: str) -> Grouper:
    plain = name.lower()
    for form in _FORMS:
        plain = plain.removesuffix(form)
    if plain not in _GROUPERS:
        raise ValueError(f"no grouper of the kind {name}")
    return _GROUPERS[plain]


def _stateful(settings: dict[str, Any]) -> bool:
    stores = settings.get("stores")
    if stores is None:
        return bool(settings["stateful"])
    return is_stateful(
        StoreTraits(bool(store.get("persistent")), bool(store.get("changelog"))) for store in stores
    )


def _broadcast(settings: dict[str, Any]) -> frozenset[str | Partition]:
    return frozenset(
        Partition.parse(text) if "#" in text else text for text in settings.get("broadcast") or ()
    )


def _algorithm(table: dict[str, int] | None) -> ExpansionAlgorithm:
    """A table says where indexes went that moved; the others are where they were."""
    if table is None:
        return modulo

    def by_table(index: int, _current: int, initial: int, /) -> int:
        return index if index < initial and str(index) not in table else table[str(index)]

    return by_table


def _outcome(number: int, expect: dict[str, Any], answer: Assignment | Refusal) -> Iterator[str]:
    outcome = "rejected" if isinstance(answer, Refusal) else "ok"
    if outcome not in (expect["outcome"], expect.get("alternative")):
        yield f"step {number}: {outcome}, not {expect['outcome']}: {answer}"
    reason = _REASONS.get(str(expect.get("error")))
    if reason is not None and isinstance(answer, Refusal) and answer.reason is not reason:
        yield f"step {number}: refused for {answer.reason}, not for {reason}"


def _accept(app: _App, settings: dict[str, Any], answer: Assignment) -> None:
    app.layout = answer.layout
    tasks = {task: set(answer.partitions(task)) for task in answer.tasks}
    app.tasks = {task: set(map(str, partitions)) for task, partitions in tasks.items()}
    _remember_owners(app, tasks, frozenset(answer.broadcast) | _broadcast(settings))


def _remember_owners(
    app: _App, tasks: Mapping[str, set[Partition]], broadcast: frozenset[str | Partition]
) -> None:
    """Who owns each partition of the streams that are wholly keyed and without holes."""
    owner = {partition: task for task, partitions in tasks.items() for partition in partitions}
    for stream in {partition.stream for partition in owner}:
        indexes = range(sum(partition.stream == stream for partition in owner))
        partitions = [Partition(stream, index) for index in indexes]
        keyed = stream not in broadcast and not broadcast.intersection(partitions)
        if keyed and all(partition in owner for partition in partitions):
            app.owners[stream] = [owner[partition] for partition in partitions]
        else:
            app.owners.pop(stream, None)


def _moved_keys(number: int, before: _App, settings: dict[str, Any], answer: Assignment) -> Iterator[str]:
    """The check that every vector with state has: a key's task is the one it had when last seen."""
    after = _App(None, {})
    _accept(after, settings, answer)
    for stream, new in after.owners.items():
        old = before.owners.get(stream, [])
        for key in range(lcm(len(old), len(new)) if old else 0):
            if old[key % len(old)] != new[key % len(new)]:
                yield f"step {number}: keys of hash {key} in {stream} leave {old[key % len(old)]}"
                break


def _compared(number: int, expect: dict[str, Any], app: _App) -> Iterator[str]:
    if "tasks" in expect:
        expected = {task: set(partitions) for task, partitions in expect["tasks"].items()}
        for task in sorted(expected.keys() | app.tasks.keys()):
            mine, theirs = app.tasks.get(task), expected.get(task)
            if mine != theirs:
                yield f"step {number}: {task} has {_shown(mine)}, not {_shown(theirs)}"
    numbers = app.layout.changelog if app.layout else {}
    if "changelog" in expect:
        relevant = {*expect["changelog"], *app.tasks}
        given = {task: numbers[task] for task in sorted(relevant) if task in numbers}
        if given != expect["changelog"]:
            yield f"step {number}: changelog {given}, not {expect['changelog']}"
    count = changelog_partition_count(numbers)
    if count != expect.get("changelog_count", count):
        yield f"step {number}: {count} changelog partitions, not {expect['changelog_count']}"


def _shown(partitions: set[str] | None) -> str:
    return "no such task" if partitions is None else str(sorted(partitions))
