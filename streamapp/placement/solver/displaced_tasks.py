"""Decides where some tasks' owners are away from their homes, as after a processor came back elsewhere.

Such a task can keep its processor only by leaving its location. That is right only where the location has
too many tasks anyway and the owner's has too few, and extras shift both, so locations no longer stand alone.
Those that are tied together in this way form a network in which tasks flow into processors:

    location --its settled tasks, each worth a place at home and a processor--> their owner
    location --any of its tasks, each worth a place at home-------------------> a processor there
    location --its tasks that are away, each worth a processor----------------> their owner
    source ----homeless tasks, each worth a processor-------------------------> their owner
    processor --base--> sink           processor --1, if eligible--> extras --as many as there are--> sink

A place at home is worth more than all processors together. Tasks that the greatest flow leaves behind gain
nothing anywhere and go where there is room. The other locations compete for extras only, and what each extra
is worth to them is known (`extras`): they are arcs from the source to the extras. So the greatest flow is
the best decision, and the network's size is that of what has moved, not that of the app.
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
    """Where in the network the decision can be read."""

    rivals: Sequence[int]
    extra: Mapping[str, int]
    owned: Mapping[str, int]
    away: Mapping[tuple[str, str], int]


def decide_by_flow(census: TaskClasses, shares: LoadShares) -> PlacementDecision:
    """The best decision where some tasks are away."""
    tied, others = _parted(census)
    rivals = sorted(offer for site in others for offer in extra_offers(site, census, shares))
    network, arcs = _network(tied, rivals, census, shares)
    network.fill(_SOURCE, _SINK)

    won = sum(map(network.flow, arcs.rivals))
    extras = {offer.processor for offer in rivals[:won]}
    extras.update(name for name, arc in arcs.extra.items() if network.flow(arc))
    # What is left of the extras gains nothing and goes to where it upsets the least.
    without = [offer_terms(name, census, shares) for name in shares.eligible if name not in extras]
    least_upset = sorted(without, key=lambda found: found[1:])[: shares.extras - len(extras)]
    chosen = frozenset(extras.union(name for _, _, name in least_upset))
    owned = {name: network.flow(arc) for name, arc in arcs.owned.items()}
    return PlacementDecision(
        chosen,
        owned | returning_tasks(others, census, shares, chosen),
        {kind: network.flow(arc) for kind, arc in arcs.away.items()},
    )


def _parted(census: TaskClasses) -> tuple[list[LocationGroup], list[LocationGroup]]:
    """The locations that tasks away tie together, and the others."""
    homes = {home for home, _ in census.away}
    owners = {owner for _, owner in census.away}
    tied: list[LocationGroup] = []
    others: list[LocationGroup] = []
    for site in census.sites:
        ties = site.location in homes or not owners.isdisjoint(site.processors)
        (tied if ties else others).append(site)
    return tied, others


def _network(
    tied: Sequence[LocationGroup], rivals: Sequence[ExtraOffer], census: TaskClasses, shares: LoadShares
) -> tuple[FlowNetwork, _Arcs]:
    names = [name for site in tied for name in site.processors]
    processor = {name: number for number, name in enumerate(names, start=_EXTRAS + 1)}
    location = {site.location: number for number, site in enumerate(tied, start=_EXTRAS + 1 + len(names))}
    network = FlowNetwork(_EXTRAS + 1 + len(names) + len(tied))
    place = 1 + sum(shares.base.values()) + shares.extras

    network.add(_EXTRAS, _SINK, shares.extras)
    for name in names:
        network.add(processor[name], _SINK, shares.base[name])
    for site in tied:
        if site.location:
            network.add(_SOURCE, location[site.location], site.tasks)
            for name in site.processors:
                settled = len(census.settled.get(name, ()))
                network.add(location[site.location], processor[name], settled, place + 1)
                network.add(location[site.location], processor[name], site.tasks, place)
    worths = groupby(rivals, key=lambda offer: (not offer.for_others) * place - offer.lost)
    return network, _Arcs(
        rivals=[network.add(_SOURCE, _EXTRAS, len(list(alike)), worth) for worth, alike in worths],
        extra={name: network.add(processor[name], _EXTRAS, 1) for name in names if name in shares.eligible},
        owned={
            name: network.add(_SOURCE, processor[name], len(census.owned[name]), 1)
            for name in names
            if name in census.owned
        },
        away={
            (home, owner): network.add(location[home], processor[owner], len(tasks), 1)
            for (home, owner), tasks in sorted(census.away.items())
        },
    )
