"""The best counts found without any of the product's reasoning: each task is matched to a slot, by costs."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import product

from tests.harness.core.placement_worlds import MOST_POSITION, World

_FORBIDDEN = 10**9


def best_by_matching(
    world: World, base: Mapping[str, int], eligible: frozenset[str], extras: int
) -> tuple[int, int]:
    """(on location, on processor) of the best assignment of tasks to slots, by the Hungarian method.

    A processor has a slot for each task of its base and, if eligible, one for an extra. Slots for extras
    that nobody is to have are taken by dummies, which fit nowhere else.
    """
    slots = [(name, False) for name in base for _ in range(base[name])]
    slots += [(name, True) for name in sorted(eligible)]
    place = len(world.tasks) + 1
    costs = [[-_gain(world, task, name, place) for name, _ in slots] for task in world.tasks]
    dummies = len(eligible) - extras
    costs += [[0 if extra else _FORBIDDEN for _, extra in slots]] * dummies
    return divmod(-_least_cost(costs), place)


def best_of_all(world: World) -> tuple[int, int]:
    """The same by trying every balanced assignment there is; for tiny worlds."""
    names = list(world.processor_locality)
    base, extras = divmod(len(world.tasks), len(names))
    balanced = sorted([base + 1] * extras + [base] * (len(names) - extras))
    place = len(world.tasks) + 1
    best = 0
    for choice in product(names, repeat=len(world.tasks)):
        if sorted(map(choice.count, names)) == balanced:
            pairs = zip(world.tasks, choice, strict=True)
            best = max(best, sum(_gain(world, task, name, place) for task, name in pairs))
    return divmod(best, place)


def furthest_by_matching(
    world: World, base: Mapping[str, int], eligible: frozenset[str], extras: int
) -> tuple[int, int, int]:
    """(on location, on processor, how far all stores are) of the best assignment of tasks to slots."""
    far = MOST_POSITION * len(world.tasks) + 1
    slots = [(name, False) for name in base for _ in range(base[name])]
    slots += [(name, True) for name in sorted(eligible)]
    place = len(world.tasks) + 1
    costs = [
        [-far * _gain(world, task, name, place) - _position(world, task, name) for name, _ in slots]
        for task in world.tasks
    ]
    dummies = len(eligible) - extras
    costs += [[0 if extra else _FORBIDDEN for _, extra in slots]] * dummies
    counts, position = divmod(-_least_cost(costs), far)
    return *divmod(counts, place), position


def furthest_of_all(world: World) -> tuple[int, int, int]:
    """The same by trying every balanced assignment there is; for tiny worlds."""
    names = list(world.processor_locality)
    base, extras = divmod(len(world.tasks), len(names))
    balanced = sorted([base + 1] * extras + [base] * (len(names) - extras))
    place = len(world.tasks) + 1
    return max(
        (
            *divmod(sum(_gain(world, task, name, place) for task, name in pairs), place),
            sum(_position(world, task, name) for task, name in pairs),
        )
        for choice in product(names, repeat=len(world.tasks))
        if sorted(map(choice.count, names)) == balanced
        for pairs in [list(zip(world.tasks, choice, strict=True))]
    )


def dealt(
    tasks: int, weight: Mapping[str, int], limit: Mapping[str, int]
) -> tuple[dict[str, int], frozenset[str], int]:
    """Base, eligible and extras, by dealing one task after the other to the least laden."""
    loads = dict.fromkeys(weight, 0)
    left = tasks
    while left:
        able = [name for name in loads if weight[name] and loads[name] < limit.get(name, tasks)]
        level = min(Fraction(loads[name], weight[name]) for name in able)
        tied = [name for name in able if Fraction(loads[name], weight[name]) == level]
        if len(tied) > left:
            return loads, frozenset(tied), left
        for name in tied:
            loads[name] += 1
        left -= len(tied)
    return loads, frozenset(), 0


def _gain(world: World, task: str, name: str, place: int) -> int:
    location = world.task_locality.get(task)
    at_home = bool(location) and location == world.processor_locality[name]
    return place * at_home + (world.previous.get(task) == name)


def _position(world: World, task: str, name: str) -> int:
    return world.stores.get(task, {}).get(world.processor_locality[name] or "", 0)


def _least_cost(costs: list[list[int]]) -> int:
    """The cost of the cheapest matching of rows to columns; rows join one by one, by shortest paths."""
    size = len(costs)
    of_row, of_column = [0] * (size + 1), [0] * (size + 1)  # prices
    row_of = [0] * (size + 1)  # the row that has a column; column 0 stands for the row that joins
    for row in range(1, size + 1):
        row_of[0] = row
        column, came_from = 0, [0] * (size + 1)
        distance = [_FORBIDDEN * size] * (size + 1)
        seen = [False] * (size + 1)
        while row_of[column]:
            seen[column] = True
            here = row_of[column]
            for other in (n for n in range(1, size + 1) if not seen[n]):
                slack = costs[here - 1][other - 1] - of_row[here] - of_column[other]
                if slack < distance[other]:
                    distance[other], came_from[other] = slack, column
            nearest = min((n for n in range(1, size + 1) if not seen[n]), key=distance.__getitem__)
            step = distance[nearest]
            for n in range(size + 1):
                if seen[n]:
                    of_row[row_of[n]] += step
                    of_column[n] -= step
                else:
                    distance[n] -= step
            column = nearest
        while column:
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    return -of_column[0]
