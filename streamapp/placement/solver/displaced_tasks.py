"""Decides on extra tasks where owners are away from homes, as after a processor changed its location.

Such a task can keep its processor only by leaving its location. That is right only where the location has
too many tasks and the owner's location has too few. Extra tasks shift both, so locations depend on each
other. Locations that depend on each other form a network in which tasks flow into processors:

    location --its tasks whose owner is at home, each worth a home and a processor--> their owner
    location --any of its tasks, each worth a home----------------------------------> a processor there
    location --its tasks whose owner is elsewhere, each worth a processor-----------> their owner
    source ----tasks without a home, each worth a processor-------------------------> their owner
    processor --base--> sink      processor --1, if eligible--> extras --number of extra tasks--> sink

A home is worth more than all processors together. Tasks that the maximum-gain flow leaves out gain nothing
anywhere and go to free places. The other locations compete for extra tasks only. The gain of each extra task
for such a location is known (`extra_tasks`), so it is an arc from the source to the extras. Hence the
maximum-gain flow is the best decision, and the network grows with the displaced tasks, not with the app.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from streamapp.placement.solver.extra_tasks import (
    ExtraOffer,
    PlacementDecision,
    extra_offers,
    offer_terms,
    returning_tasks,
)
from streamapp.placement.solver.flow_network import FlowNetwork
from streamapp.placement.solver.load_shares import LoadShares
from streamapp.placement.solver.task_classes import LocationGroup, TaskClasses

_SOURCE, _SINK, _EXTRAS = range(3)


@dataclass(frozen=True, slots=True)
class _Arcs:
    """The arcs of the network from which the decision is read."""

    rival_arcs: Sequence[int]
    extra_arcs: Mapping[str, int]
    owner_only: Mapping[str, int]
    owner_elsewhere: Mapping[tuple[str, str], int]


def decide_by_flow(task_classes: TaskClasses, shares: LoadShares) -> PlacementDecision:
    """The best decision where the owners of some tasks are elsewhere."""
    tied, other_groups = _split_by_ties(task_classes)
    rivals = sorted(offer for group in other_groups for offer in extra_offers(group, task_classes, shares))
    network, arcs = _network(tied, rivals, task_classes, shares)
    network.fill(_SOURCE, _SINK)

    taken_offers = sum(map(network.flow, arcs.rival_arcs))
    extras = {offer.processor for offer in rivals[:taken_offers]}
    extras.update(name for name, arc in arcs.extra_arcs.items() if network.flow(arc))
    # The remaining extra tasks gain nothing and go to the processors that they disturb the least.
    other_terms = [offer_terms(name, task_classes, shares) for name in shares.eligible if name not in extras]
    least_upset = sorted(other_terms, key=lambda terms: terms[1:])[: shares.extras - len(extras)]
    extra_processors = frozenset(extras.union(name for _, _, name in least_upset))
    returning = {name: network.flow(arc) for name, arc in arcs.owner_only.items()}
    return PlacementDecision(
        extra_processors,
        returning | returning_tasks(other_groups, task_classes, shares, extra_processors),
        {kind: network.flow(arc) for kind, arc in arcs.owner_elsewhere.items()},
    )


def _split_by_ties(task_classes: TaskClasses) -> tuple[list[LocationGroup], list[LocationGroup]]:
    """The locations that displaced tasks tie together, and the others."""
    homes = {home for home, _ in task_classes.owner_elsewhere}
    owners = {owner for _, owner in task_classes.owner_elsewhere}
    tied: list[LocationGroup] = []
    other_groups: list[LocationGroup] = []
    for group in task_classes.location_groups:
        is_tied = group.location in homes or not owners.isdisjoint(group.processors)
        (tied if is_tied else other_groups).append(group)
    return tied, other_groups


def _network(
    tied: Sequence[LocationGroup], rivals: Sequence[ExtraOffer], task_classes: TaskClasses, shares: LoadShares
) -> tuple[FlowNetwork, _Arcs]:
    names = [name for group in tied for name in group.processors]
    processor_node = {name: number for number, name in enumerate(names, start=_EXTRAS + 1)}
    location_node = {
        group.location: number for number, group in enumerate(tied, start=_EXTRAS + 1 + len(names))
    }
    network = FlowNetwork(_EXTRAS + 1 + len(names) + len(tied))
    home_gain = 1 + sum(shares.base.values()) + shares.extras

    network.add(_EXTRAS, _SINK, shares.extras)
    for name in names:
        network.add(processor_node[name], _SINK, shares.base[name])
    for group in tied:
        if group.location:
            network.add(_SOURCE, location_node[group.location], group.tasks)
            for name in group.processors:
                at_home = len(task_classes.at_home.get(name, ()))
                network.add(location_node[group.location], processor_node[name], at_home, home_gain + 1)
                network.add(location_node[group.location], processor_node[name], group.tasks, home_gain)
    gains = groupby(rivals, key=lambda offer: (not offer.off_location) * home_gain - offer.processors_kept)
    return network, _Arcs(
        rival_arcs=[
            network.add(_SOURCE, _EXTRAS, len(list(equal_offers)), gain) for gain, equal_offers in gains
        ],
        extra_arcs={
            name: network.add(processor_node[name], _EXTRAS, 1) for name in names if name in shares.eligible
        },
        owner_only={
            name: network.add(_SOURCE, processor_node[name], len(task_classes.owner_only[name]), 1)
            for name in names
            if name in task_classes.owner_only
        },
        owner_elsewhere={
            (home, owner): network.add(location_node[home], processor_node[owner], len(tasks), 1)
            for (home, owner), tasks in sorted(task_classes.owner_elsewhere.items())
        },
    )
