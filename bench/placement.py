"""Placement: time and moves when processors come and go, beside hashing and the plain greedy grouper."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from random import Random
from time import process_time

from bench.row import Aim, Compared, Row
from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal

TASKS, PROCESSORS = 100_000, 1_000
SERIES = (1_000, 10_000, 100_000)
CHANGES = {"p - 1": PROCESSORS - 1, "p + 1": PROCESSORS + 1, "p * 1.2": 1_200, "p * 0.8": 800}

Owners = Mapping[str, str]
Locations = Mapping[str, str | None]


def rows() -> Iterator[Row]:
    """The four changes, with one and with ten processors at a location; a history; growth; hard cases."""
    for together in (1, 10):
        before = _start(TASKS, PROCESSORS, together)
        for name, count in CHANGES.items():
            yield from _change(f"{name}, {together} at a location", before, _processors(count, together))
    yield from _history()
    first = 0.0
    for tasks in SERIES:
        milliseconds, _ = _measured(_start(tasks, tasks // 100, 1), _processors(tasks // 100 + 1, 1))
        each = milliseconds / tasks
        first = first or each
        beside = f"{each * 1e6:,.0f} ns each ({each / first:.2f} of the first)"
        yield Row(f"{tasks:,} tasks on {tasks // 100:,} processors, p + 1", milliseconds, "ms", None, beside)
    yield from _hard_cases()
    yield from _returns()


def _returns() -> Iterator[Row]:
    """A processor that comes back to where stores still lie, and places that nothing but chance decided."""
    tasks, at = 1_000, _processors(100, 1)
    before = _start(tasks, 100, 1)
    away = {name: node for name, node in at.items() if name != "processor-0042"}
    stores = {task: {str(location): 1_000} for task, location in before.locations.items()}
    without = _placed(place_tasks(tuple(before.owners), before.locations, away, before.owners, stores=stores))
    homes = {task: at[name] for task, name in without.processor_of.items()}
    for task, location in homes.items():
        stores[task][str(location)] = 1_010
    title = f"{tasks:,} tasks on 100 processors, one back"
    yield from _restored(title, homes, without.processor_of, at, stores, Aim(most=50))
    chance = Random(7)  # noqa: S311 - the same places each time
    names = sorted(at)
    owners = {task: chance.choice(names[:50]) for task in before.owners}
    homes = {task: at[name] for task, name in owners.items()}
    stores = {
        task: {str(at[chance.choice(names)]): chance.randint(1, 1_000) for _ in range(3)}
        | {str(homes[task]): 1_000}
        for task in owners
    }
    yield from _restored("  50 back, places by chance", homes, owners, at, stores, None)


def _restored(
    title: str,
    homes: Locations,
    owners: Owners,
    at: Locations,
    stores: Mapping[str, Mapping[str, int]],
    aim: Aim | None,
) -> Iterator[Row]:
    begun = process_time()
    found = _placed(place_tasks(tuple(owners), homes, at, owners, stores=stores))
    milliseconds = (process_time() - begun) * 1_000
    by_name = _placed(place_tasks(tuple(owners), homes, at, owners)).processor_of
    restored = sum(
        max(stores[task].values()) - stores[task].get(str(at[name]), 0) for task, name in by_name.items()
    )
    yield Row(title, milliseconds, "ms", aim)
    yield Row("  entries to restore", found.to_restore, "entries", compared=Compared("by names", restored))


class _Start:
    """Tasks where a first placement put them."""

    def __init__(self, owners: Owners, processors: Locations) -> None:
        self.owners = owners
        self.locations: Locations = {task: processors[name] for task, name in owners.items()}


def _start(tasks: int, processors: int, together: int) -> _Start:
    at = _processors(processors, together)
    return _Start(_placed(place_tasks([f"task-{n:06d}" for n in range(tasks)], {}, at)).processor_of, at)


def _processors(count: int, together: int) -> Locations:
    return {f"processor-{n:04d}": f"node-{n // together:04d}" for n in range(count)}


def _change(name: str, before: _Start, processors: Locations) -> Iterator[Row]:
    milliseconds, found = _measured(before, processors)
    yield Row(name, milliseconds, "ms", Aim(most=50))
    least = len(before.owners) - most_that_stay(Counter(before.locations.values()), processors)
    hashed, greedy = by_hash(before.owners, processors), by_greed(before, processors)
    moves = _location_moves(before, found.processor_of, processors)
    beside = f"hashing {_location_moves(before, hashed, processors):,}"
    compared = Compared("greedy", _location_moves(before, greedy, processors))
    yield Row("  tasks that leave their location", moves, "tasks", Aim(least, least), beside, compared)
    moves = _moves(before, found.processor_of)
    beside, compared = f"hashing {_moves(before, hashed):,}", Compared("greedy", _moves(before, greedy))
    yield Row("  tasks that change processor", moves, "tasks", None, beside, compared)


def _history() -> Iterator[Row]:
    """Ten changes in a row, each from where its own last one left the tasks."""
    answers: dict[str, Callable[[_Start, Locations], Owners]] = {
        "placed": lambda before, processors: _measured(before, processors)[1].processor_of,
        "greedy": by_greed,
        "hashing": lambda before, processors: by_hash(before.owners, processors),
    }
    moves = Counter(dict.fromkeys(answers, 0))
    for name, answer in answers.items():
        before = _start(TASKS, PROCESSORS, 10)
        for processors in _changes():
            owners = answer(before, processors)
            moves[name] += _location_moves(before, owners, processors)
            before = _Start(owners, processors)
    beside, compared = f"hashing {moves['hashing']:,}", Compared("greedy", moves["greedy"])
    name = "location moves in ten changes in a row, 10 at a location"
    yield Row(name, moves["placed"], "tasks", None, beside, compared)


def _changes() -> Iterator[Locations]:
    """Each time some processors go, here and there, and a few new ones come, on locations that had others."""
    processors = dict(_processors(PROCESSORS, 10))
    for change in range(10):
        for name in sorted(processors)[change :: 11 + change]:
            del processors[name]
        for number in range(30 + 10 * change):
            processors[f"processor-{change}-{number}"] = f"node-{(37 * number + 11 * change) % 100:04d}"
        yield dict(processors)


def most_that_stay(tasks_at: Mapping[str | None, int], processors: Locations) -> int:
    """The closed form of the greatest number of tasks on their location, written here anew as a check."""
    base, extras = divmod(sum(tasks_at.values()), len(processors))
    processors_at = Counter(processors.values())
    on_bases = sum(min(tasks_at.get(at, 0), base * count) for at, count in processors_at.items())
    asked = sum(min(count, max(0, tasks_at.get(at, 0) - base * count)) for at, count in processors_at.items())
    return on_bases + min(extras, asked)


def by_hash(owners: Owners, processors: Locations) -> Owners:
    """Task n on processor n mod p."""
    return dict(zip(sorted(owners), cycle(sorted(processors)), strict=False))


def by_greed(before: _Start, processors: Locations) -> Owners:
    """Each task in turn: its processor if that has room, else one at its location, else any; balanced."""
    base, extras = divmod(len(before.owners), len(processors))
    loads = dict.fromkeys(sorted(processors), 0)
    at: dict[str | None, list[str]] = {}
    for name in loads:
        at.setdefault(processors[name], []).append(name)
    chosen = {}
    for task in sorted(before.owners):
        near = (before.owners[task], *at.get(before.locations[task], ()))
        room = [name for name in near if loads.get(name, TASKS) < base + bool(extras)]
        name = room[0] if room else min(loads, key=loads.__getitem__)
        loads[name] += 1
        extras -= loads[name] > base
        chosen[task] = name
    return chosen


def _hard_cases() -> Iterator[Row]:
    before = _start(TASKS, PROCESSORS, 10)
    names = sorted(_processors(PROCESSORS, 10))
    cases: dict[str, Locations] = {
        "no processor knows its location": dict.fromkeys(names),
        "fifty processors came back elsewhere": {
            name: f"node-{(n * 7 + 3) % 100 if n % 20 == 0 else n // 10:04d}" for n, name in enumerate(names)
        },
        "every processor came back elsewhere": {
            name: f"node-{(n * 7 + 3) % 100:04d}" for n, name in enumerate(names)
        },
    }
    for name, processors in cases.items():
        milliseconds, found = _measured(before, processors)
        beside = f"{_moves(before, found.processor_of):,} tasks change processor"
        yield Row(name, milliseconds, "ms", None, beside)


def _measured(before: _Start, processors: Locations) -> tuple[float, TaskPlacement]:
    taken = []
    for _ in range(5):
        start = process_time()
        found = place_tasks(list(before.owners), before.locations, processors, before.owners)
        taken.append(process_time() - start)
    return min(taken) * 1e3, _placed(found)


def _placed(found: TaskPlacement | Refusal) -> TaskPlacement:
    if isinstance(found, Refusal):
        raise TypeError(str(found))
    return found


def _moves(before: _Start, owners: Owners) -> int:
    return sum(before.owners[task] != name for task, name in owners.items())


def _location_moves(before: _Start, owners: Owners, processors: Locations) -> int:
    return sum(before.locations[task] != processors[name] for task, name in owners.items())
