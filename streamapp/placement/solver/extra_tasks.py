"""Decides which processors carry an extra task, by location, where no task's owner is away from its home.

Loads are fixed but for the extra tasks (`load_shares`), so the decision is which processors get those. Take a
location with n tasks and a base of B. Each of its first n - B extra tasks keeps one task more on the
location; later ones make room for tasks of other locations. Besides, an extra task

- lets a processor with more tasks at home than its base ("crowded") keep one more of these tasks;
- lets a processor that exceeds its base only together with its tasks without a home ("returning") get one
  more of those back, if the location has room.

The first always holds, so crowded processors come first, returning ones next, others last. The gain of the
i-th extra task of a location then depends on that location alone: whether a task stays on the location, and
how many more tasks keep their processor. Gains never rise from one extra task to the next. So the extra tasks
that are handed out by gain, greatest first, give the greatest sum.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from streamapp.placement.solver.load_shares import LoadShares
from streamapp.placement.solver.task_classes import LocationGroup, TaskClasses


@dataclass(frozen=True, slots=True)
class PlacementDecision:
    """The numbers of tasks that keep their location and processor; `name_assignment` chooses the tasks."""

    extras: frozenset[str]  # processors that carry one task more than their base
    owner_only: Mapping[str, int]  # owner -> number of its tasks without a home that return
    owner_elsewhere: Mapping[
        tuple[str, str], int
    ]  # home, owner -> how many tasks leave home to stay with their owner


class ExtraOffer(NamedTuple):
    """An extra task for one processor. Offers sort by gain, greatest first, then by the least change."""

    off_location: bool  # no further task stays on the location
    processors_kept: int  # number of tasks that keep their processor, negated so that offers sort
    priority: int  # 0 crowded, 1 returning, 2 neither
    disturbance: int  # 0 the extra task restores the previous load, 2 exceeds it, 1 neither
    processor: str


def extra_offers(group: LocationGroup, task_classes: TaskClasses, shares: LoadShares) -> list[ExtraOffer]:
    """The gain of each extra task of a location, in the order in which its processors take them."""
    terms = sorted(
        offer_terms(name, task_classes, shares) for name in group.processors if name in shares.eligible
    )
    crowded = sum(priority == 0 for priority, _, _ in terms)
    returning = sum(priority == 1 for priority, _, _ in terms)
    base = sum(map(shares.base.__getitem__, group.processors))
    returning_places = sum(
        _returning_places(name, shares.base[name], task_classes) for name in group.processors
    )

    def processors_kept(extras: int) -> int:
        room = max(0, base + extras - group.tasks)
        return min(extras, crowded) + min(room, returning_places + min(max(0, extras - crowded), returning))

    return [
        ExtraOffer(
            base + number >= group.tasks, processors_kept(number) - processors_kept(number + 1), *offer_term
        )
        for number, offer_term in enumerate(terms)
    ]


def offer_terms(name: str, task_classes: TaskClasses, shares: LoadShares) -> tuple[int, int, str]:
    """The terms of an extra task for a processor: priority, disturbance and name, as in `ExtraOffer`."""
    base = shares.base[name]
    at_home = len(task_classes.at_home.get(name, ()))
    previous_tasks = at_home + len(task_classes.owner_only.get(name, ()))
    priority = 0 if at_home > base else 1 if previous_tasks > base else 2
    return priority, {base + 1: 0, base: 2}.get(previous_tasks, 1), name


def decide_by_worth(task_classes: TaskClasses, shares: LoadShares) -> PlacementDecision:
    """The best decision where no owner is away from home."""
    ranked: list[ExtraOffer] = []
    if shares.extras:
        ranked = sorted(
            offer
            for group in task_classes.location_groups
            for offer in extra_offers(group, task_classes, shares)
        )
    extras = frozenset(offer.processor for offer in ranked[: shares.extras])
    return PlacementDecision(
        extras, returning_tasks(task_classes.location_groups, task_classes, shares, extras), {}
    )


def returning_tasks(
    groups: Iterable[LocationGroup], task_classes: TaskClasses, shares: LoadShares, extras: frozenset[str]
) -> dict[str, int]:
    """The number of tasks without a home that return to each owner, up to the room of owner and location."""
    returning: dict[str, int] = {}
    for group in groups:
        loads = {
            name: shares.base[name] + (name in extras)
            for name in group.processors
            if name in task_classes.owner_only
        }
        if loads:
            room = max(
                0, sum(shares.base[name] + (name in extras) for name in group.processors) - group.tasks
            )
            for name, load in loads.items():
                returning[name] = min(room, _returning_places(name, load, task_classes))
                room -= returning[name]
    return returning


def _returning_places(name: str, load: int, task_classes: TaskClasses) -> int:
    """The number of tasks without a home that fit on a processor of this load, beside its tasks at home."""
    owner_only = len(task_classes.owner_only.get(name, ()))
    return max(0, min(owner_only, load - len(task_classes.at_home.get(name, ()))))
