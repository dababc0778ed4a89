"""Decides who carries an extra task, location by location, where no task's owner is away from its home.

Loads are fixed but for the extras (`shares`), so the choice is who gets these. Look at a location with n
tasks and a base of B. Its first n - B extras each keep one task more on the location, later ones make room
for others. Besides, an extra

- lets a processor with more settled tasks than its base ("crowded") keep one more of them;
- lets a processor that had more than its base only with homeless tasks counted ("wanted") get one more of
  those back, if the location has room for it.

The first never fails, so crowded processors come first, wanted ones next, others last. What the i-th extra
of a location is worth is then known without a look at other locations: does it keep a task on the location,
and how many more keep their processor. Worths never rise from one extra to the next. So handing extras out
by worth, best first, gives the best sum there is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from streamapp.placement.solver.load_shares import LoadShares
from streamapp.placement.solver.task_classes import LocationGroup, TaskClasses


@dataclass(frozen=True, slots=True)
class PlacementDecision:
    """It fixes how many tasks keep their location and their processor; names only fill it in."""

    extras: frozenset[str]  # who carries one task more than its base
    owned: Mapping[str, int]  # owner -> how many tasks without a home come back to it
    away: Mapping[tuple[str, str], int]  # home, owner -> how many tasks leave home to stay with their owner


class ExtraOffer(NamedTuple):
    """An extra for one processor. Sorts by worth, best first; then by what leaves more as it is."""

    for_others: bool  # it keeps nobody on the location
    lost: int  # how many more keep their processor, negative so that it sorts
    appetite: int  # 0 crowded, 1 wanted, 2 neither
    upset: int  # 0 leaves the processor with what it had, 2 takes that from it, 1 neither
    processor: str


def extra_offers(site: LocationGroup, census: TaskClasses, shares: LoadShares) -> list[ExtraOffer]:
    """What each extra of a location is worth, in the order in which it takes them."""
    takers = sorted(offer_terms(name, census, shares) for name in site.processors if name in shares.eligible)
    crowded = sum(appetite == 0 for appetite, _, _ in takers)
    wanted = sum(appetite == 1 for appetite, _, _ in takers)
    base = sum(map(shares.base.__getitem__, site.processors))
    places = sum(_places(name, shares.base[name], census) for name in site.processors)

    def kept(extras: int) -> int:
        room = max(0, base + extras - site.tasks)
        return min(extras, crowded) + min(room, places + min(max(0, extras - crowded), wanted))

    return [
        ExtraOffer(base + number >= site.tasks, kept(number) - kept(number + 1), *taker)
        for number, taker in enumerate(takers)
    ]


def offer_terms(name: str, census: TaskClasses, shares: LoadShares) -> tuple[int, int, str]:
    """What an extra would be to a processor: appetite, upset and name, as in `Offer`."""
    base = shares.base[name]
    settled = len(census.settled.get(name, ()))
    had = settled + len(census.owned.get(name, ()))
    appetite = 0 if settled > base else 1 if had > base else 2
    return appetite, {base + 1: 0, base: 2}.get(had, 1), name


def decide_by_worth(census: TaskClasses, shares: LoadShares) -> PlacementDecision:
    """The best decision where nobody is away."""
    ranked: list[ExtraOffer] = []
    if shares.extras:
        ranked = sorted(offer for site in census.sites for offer in extra_offers(site, census, shares))
    extras = frozenset(offer.processor for offer in ranked[: shares.extras])
    return PlacementDecision(extras, returning_tasks(census.sites, census, shares, extras), {})


def returning_tasks(
    sites: Iterable[LocationGroup], census: TaskClasses, shares: LoadShares, extras: frozenset[str]
) -> dict[str, int]:
    """How many homeless tasks each owner gets back: what it has places for, while its location has room."""
    back: dict[str, int] = {}
    for site in sites:
        loads = {
            name: shares.base[name] + (name in extras) for name in site.processors if name in census.owned
        }
        if loads:
            room = max(0, sum(shares.base[name] + (name in extras) for name in site.processors) - site.tasks)
            for name, load in loads.items():
                back[name] = min(room, _places(name, load, census))
                room -= back[name]
    return back


def _places(name: str, load: int, census: TaskClasses) -> int:
    """How many of its homeless tasks a processor of this load can take back beside its settled ones."""
    owned = len(census.owned.get(name, ()))
    return max(0, min(owned, load - len(census.settled.get(name, ()))))
