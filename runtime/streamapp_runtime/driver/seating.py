"""Which executor takes which lane: one that lives keeps its own, so that open stores stay where they are."""

from collections.abc import Collection, Sequence


def seated(before: Sequence[str], living: Collection[str], lanes: int) -> tuple[str, ...]:
    """The executor of each lane; `before` are those of the last time, and at least `lanes` live."""
    kept = [executor if executor in living else None for executor in before[:lanes]]
    kept += [None] * (lanes - len(kept))
    free = iter(sorted(set(living) - set(kept), key=lambda name: (len(name), name)))
    return tuple(next(free) if executor is None else executor for executor in kept)
