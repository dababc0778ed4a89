"""Which executor takes which lane: one that lives keeps its own, so that open stores stay where they are."""

from collections.abc import Collection, Mapping, Sequence


def seated(before: Mapping[str, str], living: Collection[str], processors: Sequence[str]) -> dict[str, str]:
    """The executor of each processor, as far as there are enough; `before` are those of the last time."""
    kept = {name: before[name] for name in processors if before.get(name) in living}
    free = iter(sorted(set(living) - set(kept.values()), key=lambda name: (len(name), name)))
    for name in processors:
        if name not in kept and (executor := next(free, None)) is not None:
            kept[name] = executor
    return {name: kept[name] for name in processors if name in kept}
