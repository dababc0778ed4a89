"""Judges expansion.json: forms tasks step by step, each from what the step before left, and compares."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm

from streamapp.spec.reasons import Reason
from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, initial_index, modulo
from streamapp.tasks.groupers.changelog_partitions import changelog_partition_count
from streamapp.tasks.groupers.grouper import (
    BY_PARTITION,
    BY_STREAM_PARTITION,
    SINGLE_TASK,
    Grouper,
    UserGrouper,
)
from streamapp.tasks.groupers.grouping_request import Assignment, GroupingRequest
from streamapp.tasks.groupers.statefulness import StoreTraits, is_stateful
from streamapp.tasks.groupers.task_grouping import group_tasks
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from tests.harness.core.adopted_layout import adopted_layout
from tests.vectors.fields import Fields
from tests.vectors.wording import unnamed

RECIPES = (
    "tests/streamapp/tasks/expansion/test_keys_stay_with_their_state.py",
    "tests/streamapp/tasks/expansion/test_order_across_growths.py",
    "tests/streamapp/tasks/expansion/test_expansion_algorithm.py",
)

_GROUPERS = {
    "groupbypartition": BY_PARTITION,
    "groupbysystemstreampartition": BY_STREAM_PARTITION,
    "allssptosingletask": SINGLE_TASK,
}
_FORMS = ("fixedtasks", "withfixedtasknum", "factory", "grouper")
_TOGETHER = re.compile(
    r"for every key k: task\((?P<one>[^,]+), h\(k\)%(?P<first>\d+)\)"
    r" == task\((?P<other>[^,]+), h\(k\)%(?P<second>\d+)\)"
)
_REASONS = {reason.name: reason for reason in Reason}


@dataclass(slots=True)
class _App:
    """What lives on from step to step."""

    layout: Layout | None
    tasks: Mapping[str, set[str]]  # the model in force
    counts: dict[str, int] = field(default_factory=dict)
    owners: dict[str, list[str]] = field(default_factory=dict)  # of streams last seen, by partition


def run(vector: Fields) -> list[str]:
    if vector["grouper"] == "mapper":
        vector.excuse("stateful")  # where an index goes is asked for apps with state alone
        others = [name for name in ("broadcast", "previous", "steps") if vector.get(name)]
        return [*_calls(vector["mapper"]), *(f"there is no rule for the field {name}" for name in others)]
    try:
        differences = list(_steps(vector, vector["steps"]))
        also = vector.get("also", [])
        for more in also if isinstance(also, list) else [also]:
            alone = more.over(Fields({"previous": None}).over(vector))
            differences += _steps(alone, more.get("steps") or [more])
    except ValueError as error:  # a partition or grouper of a kind that is not offered
        return [str(error)]
    return differences


def _calls(calls: list[Fields]) -> Iterator[str]:
    for call in calls:
        found = initial_index(call["current"], call["current_count"], call["previous_count"])
        expected = call["expect"]
        met = found == expected or (expected == "rejected" and isinstance(found, Refusal))
        if not met:
            yield f"{call} gives {found}"


def _steps(vector: Fields, steps: Sequence[Fields]) -> Iterator[str]:
    app = _started(vector)
    for number, step in enumerate(steps):
        settings = step.over(vector)
        answer = group_tasks(_request(settings, app.layout))
        expect = step["expect"]
        yield from _outcome(number, expect, answer)
        if isinstance(answer, Assignment):
            if _stateful(settings) and "algorithm_table" not in settings:
                yield from _moved_keys(number, app, settings, answer)
            _accept(app, settings, answer)
        if isinstance(answer, Refusal) and expect.get("alternative") == "rejected":
            expect.excuse("tasks", "changelog", "changelog_count", "invariant")  # of the other answer
        else:
            yield from _compared(number, expect, app)


def _started(vector: Fields) -> _App:
    previous = {
        task: [Partition.parse(text) for text in partitions]
        for task, partitions in (vector.get("previous") or {}).items()
    }
    changelog = dict((vector.get("previous_changelog") or {}).items())
    broadcast = _broadcast(vector)
    if not (previous or changelog):
        return _App(None, {})
    layout = adopted_layout(previous, _grouper(vector["grouper"]), broadcast, changelog)
    app = _App(layout, {task: set(map(str, partitions)) for task, partitions in previous.items()})
    _remember_owners(app, {task: set(partitions) for task, partitions in previous.items()}, broadcast)
    return app


def _request(settings: Fields, layout: Layout | None) -> GroupingRequest:
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
    kind, _, own = name.partition(":")
    if kind == "custom" and own in _OWN:
        return Grouper(name, _OWN[own])
    plain = name.lower()
    for form in _FORMS:
        plain = plain.removesuffix(form)
    if plain not in _GROUPERS:
        raise ValueError(f"no grouper of the kind {name}")
    return _GROUPERS[plain]


def _with_its_task(
    previous: Mapping[Partition, str], partitions: Sequence[Partition], /
) -> dict[str, list[Partition]]:
    """A user's grouper that nothing is said of: it has an answer only for what has a task already."""
    owners: dict[str, list[Partition]] = {}
    for partition in partitions:
        owners.setdefault(previous[partition], []).append(partition)
    return owners


def _first_apart(
    _: Mapping[Partition, str], partitions: Sequence[Partition], /
) -> dict[str, list[Partition]]:
    """Partition 0 alone, all others together."""
    owners: dict[str, list[Partition]] = {}
    for partition in partitions:
        owners.setdefault(f"Partition {min(partition.index, 1)}", []).append(partition)
    return owners


_OWN: Mapping[str, UserGrouper] = {"": _with_its_task, "partition0-separate": _first_apart}


def _stateful(settings: Fields) -> bool:
    stores = settings.get("stores")
    stateful = bool(settings.get("stateful"))
    if stores is None:
        return stateful
    for store in stores:
        store.excuse("name")  # what a store is called decides nothing
    return is_stateful(
        StoreTraits(bool(store.get("persistent")), bool(store.get("changelog"))) for store in stores
    )


def _broadcast(settings: Fields) -> frozenset[str | Partition]:
    return frozenset(
        Partition.parse(text) if "#" in text else text for text in settings.get("broadcast") or ()
    )


def _algorithm(table: dict[str, int] | None) -> ExpansionAlgorithm:
    """A table says where indexes went that moved; the others are where they were.

    It tells of a growth: while there is none, every index is its own.
    """
    if table is None:
        return modulo

    def by_table(index: int, current: int, initial: int, /) -> int:
        if current == initial:
            return index
        return index if index < initial and str(index) not in table else table[str(index)]

    return by_table


def _outcome(number: int, expect: Fields, answer: Assignment | Refusal) -> Iterator[str]:
    outcome = "rejected" if isinstance(answer, Refusal) else "ok"
    if "outcome" in expect and outcome not in (expect["outcome"], expect.get("alternative")):
        yield f"step {number}: {outcome}, not {expect['outcome']}: {answer}"
    if isinstance(answer, Refusal):
        if "error" in expect and answer.reason is not _REASONS.get(expect["error"]):
            yield f"step {number}: refused for {answer.reason}, not for {expect['error']}"
        message = f"{answer.path}: {answer.message}; {answer.hint}"
        yield from unnamed(expect.get("message_must_name", ()), message)
    elif expect.get("alternative") == "ok":  # what is said of a refusal is of the other answer
        expect.excuse("error", "message_must_name")


def _accept(app: _App, settings: Fields, answer: Assignment) -> None:
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


def _moved_keys(number: int, before: _App, settings: Fields, answer: Assignment) -> Iterator[str]:
    """The check that every vector with state has: a key's task is the one it had when last seen."""
    after = _App(None, {})
    _accept(after, settings, answer)
    for stream, new in after.owners.items():
        old = before.owners.get(stream, [])
        for key in range(lcm(len(old), len(new)) if old else 0):
            if old[key % len(old)] != new[key % len(new)]:
                yield f"step {number}: keys of hash {key} in {stream} leave {old[key % len(old)]}"
                break


def _compared(number: int, expect: Fields, app: _App) -> Iterator[str]:
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
    if "invariant" in expect:
        yield from (f"step {number}: {text}" for text in _apart(expect["invariant"], app))


def _apart(invariant: str, app: _App) -> Iterator[str]:
    """Keys of which two streams are in different tasks, though the invariant says that they are together."""
    met = _TOGETHER.fullmatch(invariant)
    if met is None:
        yield f"there is no rule for the invariant {invariant}"
        return
    of_stream = {stream.rpartition(".")[2]: owners for stream, owners in app.owners.items()}
    one, other = of_stream.get(met["one"], []), of_stream.get(met["other"], [])
    if (len(one), len(other)) != (int(met["first"]), int(met["second"])):
        yield f"{met['one']} has {len(one)} partitions with a task and {met['other']} {len(other)}"
        return
    for key in range(lcm(len(one), len(other))):
        if one[key % len(one)] != other[key % len(other)]:
            yield f"keys of hash {key} are in {one[key % len(one)]} and in {other[key % len(other)]}"


def _shown(partitions: set[str] | None) -> str:
    return "no such task" if partitions is None else str(sorted(partitions))
