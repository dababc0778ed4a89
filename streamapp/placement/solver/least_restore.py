"""Finds, among assignments that are as balanced and move as few tasks, one with the least to restore.

The assignment that it starts from has both counts at their greatest already. Tasks then change places in
cycles: each hands a unit of load on to the processor that it goes to, so that loads stay as they are, or an
extra task goes from one eligible processor to another. An assignment is the best if and only if no cycle has
a gain (a flow of least cost has no negative cycle), so cycles are applied until there is none.

The network has a node for each processor and none for tasks. Of the tasks that could take the same arc only
the one that loses the least counts, the first by name among equals:

    processor --task, by what it loses there--> location --> each processor there
    processor --task that could come back--> the task's previous processor
    processor --task, by what it loses--> anywhere --> each processor
    processor that may take an extra task --> extras --> processor that has one

A location is worth more than all processors together, and a processor more than all that can be restored. So
no cycle gains that would cost either.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from streamapp.placement.locations.store_history import StorePositions
from streamapp.placement.solver.load_shares import LoadShares

_LOCATION, _PROCESSOR, _HUB = range(3)

Node = tuple[int, str]
_ANYWHERE: Node = (_HUB, "anywhere")
_EXTRAS: Node = (_HUB, "extras")


class _Arc(NamedTuple):
    """A way for a unit of load: what it loses, and the task that takes it, none behind a location or hub."""

    loss: int
    task: str
    target: Node


Cycle = Sequence[tuple[Node, _Arc]]
"""Nodes in the order of the way, each with the arc that leaves it."""


@dataclass(frozen=True, slots=True)
class RestoreFacts:
    """The facts that decide how much an assignment has to restore, and what a better one may not cost."""

    shares: LoadShares
    task_locality: Mapping[str, str | None]
    processor_locality: Mapping[str, str | None]
    previous: Mapping[str, str]
    stores: StorePositions


def with_least_restore(processor_of: Mapping[str, str], facts: RestoreFacts) -> dict[str, str]:
    """The assignment with the least to restore; the given one has both counts at their greatest."""
    network = _AssignmentNetwork(dict(processor_of), facts)
    network.build()
    while cycles := _gaining_cycles(network.arcs):
        for cycle in cycles:
            network.apply(cycle)
    return network.processor_of


@dataclass(slots=True)
class _AssignmentNetwork:
    """An assignment, and the ways in which single tasks could leave their processors."""

    processor_of: dict[str, str]
    facts: RestoreFacts
    arcs: dict[Node, list[_Arc]] = field(default_factory=dict)
    _tasks_of: dict[str, set[str]] = field(default_factory=dict)
    _worth: dict[str, dict[str, int]] = field(
        default_factory=dict
    )  # task -> location -> worth of being there
    _processor_worth: int = 0

    def build(self) -> None:
        """Set up worths and arcs."""
        facts = self.facts
        live_locations = {location for location in facts.processor_locality.values() if location}
        self._processor_worth = 1 + sum(max(at.values(), default=0) for at in facts.stores.values())
        location_worth = self._processor_worth * (len(self.processor_of) + 1)
        self._tasks_of = {name: set() for name in sorted(facts.shares.base)}
        for task, name in self.processor_of.items():
            self._tasks_of[name].add(task)
            positions = facts.stores.get(task, {})
            worth = {place: far for place, far in positions.items() if place in live_locations and far > 0}
            home = facts.task_locality.get(task)
            if home and home in live_locations:
                worth[home] = worth.get(home, 0) + location_worth
            self._worth[task] = worth
        arcs: defaultdict[Node, list[_Arc]] = defaultdict(list)
        for name in self._tasks_of:
            arc = _Arc(0, "", (_PROCESSOR, name))
            arcs[_ANYWHERE].append(arc)
            if location := facts.processor_locality[name]:
                arcs[_LOCATION, location].append(arc)
        self.arcs = dict(arcs)
        self._renew_arcs(self._tasks_of)

    def apply(self, cycle: Cycle) -> None:
        """Move each task of a cycle to the next processor on it."""
        stops = [(name, arc.task) for (kind, name), arc in cycle if kind == _PROCESSOR]
        for (source, task), (target, _) in zip(stops, [*stops[1:], stops[0]], strict=True):
            if task:
                self._tasks_of[source].discard(task)
                self._tasks_of[target].add(task)
                self.processor_of[task] = target
        self._renew_arcs([name for name, _ in stops])

    def _renew_arcs(self, names: Iterable[str]) -> None:
        for name in names:
            self.arcs[_PROCESSOR, name] = self._arcs_from(name)
        self.arcs[_EXTRAS] = [
            _Arc(0, "", (_PROCESSOR, name))
            for name in self._tasks_of
            if name in self.facts.shares.eligible and len(self._tasks_of[name]) > self.facts.shares.base[name]
        ]

    def _arcs_from(self, name: str) -> list[_Arc]:
        """The arcs that leave a processor, each with its best task."""
        locality, shares = self.facts.processor_locality, self.facts.shares
        location, best = locality[name] or "", dict[Node, tuple[int, str]]()
        for task in self._tasks_of[name]:
            worth, owner = self._worth[task], self.facts.previous.get(task)
            worth_here = worth.get(location, 0) + (self._processor_worth if owner == name else 0)
            losses = [(_ANYWHERE, worth_here)]
            losses += [((_LOCATION, place), worth_here - worth_there) for place, worth_there in worth.items()]
            if owner is not None and owner != name and owner in self._tasks_of:
                worth_there = worth.get(locality[owner] or "", 0) + self._processor_worth
                losses.append(((_PROCESSOR, owner), worth_here - worth_there))
            for target, loss in losses:
                if target not in best or (loss, task) < best[target]:
                    best[target] = loss, task
        arcs = [_Arc(loss, task, target) for target, (loss, task) in sorted(best.items())]
        if name in shares.eligible and len(self._tasks_of[name]) == shares.base[name]:
            arcs.append(_Arc(0, "", _EXTRAS))
        return arcs


def _gaining_cycles(arcs: Mapping[Node, Sequence[_Arc]]) -> list[Cycle]:
    """Cycles with a gain that share no node, none where there are none: the rounds of Bellman and Ford."""
    least_loss = dict.fromkeys(arcs, 0)
    arc_to: dict[Node, tuple[Node, _Arc]] = {}
    changed: Iterable[Node] = list(arcs)
    while changed:
        improved: dict[Node, None] = {}
        for node in changed:
            loss = least_loss[node]
            for arc in arcs[node]:
                if loss + arc.loss < least_loss[arc.target]:
                    least_loss[arc.target] = loss + arc.loss
                    arc_to[arc.target] = node, arc
                    improved[arc.target] = None
        if cycles := list(_cycles(arc_to)):
            return cycles
        changed = improved
    return []


def _cycles(arc_to: Mapping[Node, tuple[Node, _Arc]]) -> Iterator[Cycle]:
    """The cycles of a graph in which at most one arc leads to each node."""
    walk_of: dict[Node, Node] = {}  # node -> the start of the walk that came by it first
    for start in arc_to:
        node = start
        while node in arc_to and node not in walk_of:
            walk_of[node] = start
            node = arc_to[node][0]
        if node in arc_to and walk_of[node] == start:
            cycle = [arc_to[node]]
            while cycle[-1][0] != node:
                cycle.append(arc_to[cycle[-1][0]])
            yield cycle[::-1]
