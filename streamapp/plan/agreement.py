"""The joins that can have their way together, and the count that this gives each stream.

Joins are heard from the smallest group to the largest, by name among equals, never by declaration. One that
would bring two counts together is left out whole: it imposes nothing on any stream, so removing it changes
nothing for the others. None of those left out could be added to the rest (`docs/decisions/0002`).
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamapp.graph.bit_sets import lowest, mask_of, members, numbers_in
from streamapp.graph.join_groups import JoinGroups
from streamapp.plan.count_reason import CountReason, CountSource


@dataclass(frozen=True, slots=True)
class Agreement:
    """Streams tied to each other, and why each stream without a count of its own has its origin's."""

    components: tuple[tuple[str, ...], ...]
    imposed: Mapping[str, CountReason]


def agree_counts(groups: JoinGroups, known_counts: Mapping[str, int]) -> Agreement:
    """Carry the given counts along the joins as far as they agree."""
    names = groups.streams
    components = _Components([known_counts.get(name) for name in names])
    join_order = sorted(groups.masks, key=lambda join: (groups.masks[join].bit_count(), join))
    for join in join_order:
        components.tie(join, groups.masks[join])
    return Agreement(
        components=tuple(sorted(members(mask, names) for mask in components.tied())),
        imposed=dict(_causes(names, components)),
    )


class _Components:
    """Streams tied together so far. A component has at most one count: a tie either fits or is left out."""

    def __init__(self, counts: Sequence[int | None]) -> None:
        self.known_mask = mask_of(number for number, count in enumerate(counts) if count is not None)
        self.beside: list[list[tuple[int, str]]] = [[] for _ in counts]
        self._root = list(range(len(counts)))
        self._mask = [1 << number for number in self._root]
        self._count = list(counts)
        self._counted = self.known_mask
        self._having: dict[int, int] = {}
        for number in numbers_in(self.known_mask):
            count = self._count[number] or 0
            self._having[count] = self._having.get(count, 0) | 1 << number

    def tie(self, join: str, mask: int) -> None:
        """Make one component of all that a join's group touches, unless two of them have different counts."""
        counted = mask & self._counted
        count = self._count[self._find(lowest(counted))] if counted else None
        if count is not None and counted & ~self._having[count]:
            return
        touched = self._touched(mask)
        if len(touched) < 2:
            return
        ends = sorted((self._end(root, mask), root) for root in touched)
        # A count is best explained by a stream that had it from the start, else by one that has it by now.
        centre, into = min(
            ends, key=lambda end: (not self.known_mask >> end[0] & 1, self._count[end[1]] is None, end[0])
        )
        for end, root in ends:
            if root != into:
                self.beside[centre].append((end, join))
                self.beside[end].append((centre, join))
        self._unite(touched, count)

    def tied(self) -> Iterator[int]:
        """The components of more than one stream."""
        return (
            self._mask[number]
            for number, root in enumerate(self._root)
            if number == root and self._mask[number].bit_count() > 1
        )

    def _touched(self, mask: int) -> list[int]:
        # One step per component, not per stream: every tie that fits makes them fewer.
        touched: list[int] = []
        while mask:
            root = self._find(lowest(mask))
            touched.append(root)
            mask &= ~self._mask[root]
        return touched

    def _end(self, root: int, mask: int) -> int:
        shared = self._mask[root] & mask
        return lowest(shared & self.known_mask or shared)

    def _unite(self, roots: Sequence[int], count: int | None) -> None:
        into = max(roots, key=lambda root: self._mask[root].bit_count())
        for root in roots:
            if root != into:
                self._root[root] = into
                self._mask[into] |= self._mask[root]
                self._mask[root] = 0
        if count is not None:
            self._count[into] = count
            self._counted |= self._mask[into]
            self._having[count] |= self._mask[into]

    def _find(self, number: int) -> int:
        root = number
        while self._root[root] != root:
            root = self._root[root]
        while self._root[number] != root:
            self._root[number], number = root, self._root[number]
        return root


def _causes(names: Sequence[str], components: _Components) -> Iterator[tuple[str, CountReason]]:
    """Follow the ties outwards from the streams whose counts were given."""
    origin = {number: number for number in numbers_in(components.known_mask)}
    waiting = deque(origin)
    while waiting:
        number = waiting.popleft()
        for other, join in components.beside[number]:
            if other not in origin:
                origin[other] = origin[number]
                waiting.append(other)
                met, first = names[number], names[origin[number]]
                yield names[other], CountReason(CountSource.IMPOSED, operator=join, stream=met, origin=first)
