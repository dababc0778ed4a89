"""The lane that each executor takes: one that lives keeps its lane, so that open stores stay there."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from streamapp.placement.locations.location_id import same_location


def bind_executors(
    before: Mapping[str, str],
    live: Collection[str],
    processors: Sequence[str],
    store_locations: Mapping[str, str | None] | None = None,
    locations: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The executor of each processor, as far as there are enough; `before` are those of the last time.

    A new one takes a lane whose stores are where it is: `store_locations` are those of each processor's
    stores, and `locations` those of the executors.
    """
    bound = {name: before[name] for name in processors if before.get(name) in live}
    free = _in_order(set(live) - set(bound.values()), locations or {})
    for name in processors:
        near = (
            one
            for one in free
            if same_location((locations or {}).get(one), (store_locations or {}).get(name))
        )
        if name not in bound and (executor := next(near, None)) is not None:
            bound[name] = executor
            free.remove(executor)
    for name in processors:
        if name not in bound and free:
            bound[name] = free.pop(0)
    return {name: bound[name] for name in processors if name in bound}


def cannot_come(present: int, wanted: int, unschedulable: int) -> bool:
    """True if some executors are present, and no node has room for any of those that are missing.

    Without any the wait continues: there is nothing that could run without them.
    """
    return 0 < present < wanted and unschedulable >= wanted - present


def _in_order(executors: Iterable[str], locations: Mapping[str, str]) -> list[str]:
    """As their locations are numbered, like the claims of a StatefulSet, and then as Spark has numbered them.

    So the last claims are those of the last processors, which are the ones that a smaller model does without.
    """

    def order(name: str) -> tuple[int, int, str]:
        numbered = re.search(r"\d+$", locations.get(name, ""))
        return int(numbered.group()) if numbered else -1, len(name), name

    return sorted(executors, key=order)
