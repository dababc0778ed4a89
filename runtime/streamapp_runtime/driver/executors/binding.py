"""Which executor takes which lane: one that lives keeps its own, so that open stores stay where they are."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from streamapp.placement.locations.location_id import same_location


def bind_executors(
    before: Mapping[str, str],
    living: Collection[str],
    processors: Sequence[str],
    wanted: Mapping[str, str | None] | None = None,
    places: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The executor of each processor, as far as there are enough; `before` are those of the last time.

    A new one takes a lane whose stores are where it is: `wanted` says where those of each processor are, and
    `places` where each executor is.
    """
    kept = {name: before[name] for name in processors if before.get(name) in living}
    free = _in_order(set(living) - set(kept.values()), places or {})
    for name in processors:
        near = (one for one in free if same_location((places or {}).get(one), (wanted or {}).get(name)))
        if name not in kept and (executor := next(near, None)) is not None:
            kept[name] = executor
            free.remove(executor)
    for name in processors:
        if name not in kept and free:
            kept[name] = free.pop(0)
    return {name: kept[name] for name in processors if name in kept}


def _in_order(executors: Iterable[str], places: Mapping[str, str]) -> list[str]:
    """As their places are numbered, like the claims of a StatefulSet, and then as Spark has numbered them.

    So the last claims are those of the last processors, which are the ones that a smaller model does without.
    """

    def order(name: str) -> tuple[int, int, str]:
        numbered = re.search(r"\d+$", places.get(name, ""))
        return int(numbered.group()) if numbered else -1, len(name), name

    return sorted(executors, key=order)
