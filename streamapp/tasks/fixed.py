"""The fixed-tasks form of every grouper: what came with a growth follows the keys it took over."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp.spec.reasons import Reason
from streamapp.tasks.algorithm import ALGORITHM_KEY, initial_indexes, modulo, shrinks
from streamapp.tasks.layout import Layout, StreamLayout
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.request import Request


@dataclass(frozen=True, slots=True)
class Fold:
    """A stream laid onto the partitions that it, or what it is joined with, had when state began."""

    initial: int
    indexes: list[int]  # the initial index of each partition
    owners: tuple[str | None, ...]  # of each initial partition, as far as remembered


def folded(request: Request, layout: Layout, counts: Mapping[str, int]) -> dict[str, Fold] | Refusal:
    """Every keyed stream of an app with state, folded; or why one cannot be."""
    folds: dict[str, Fold] = {}
    for stream, count in counts.items():
        fold = _folded(request, layout, stream, count)
        if isinstance(fold, Refusal):
            return fold
        folds[stream] = fold
    return folds


def like(layout: Layout, stream: str, request: Request) -> StreamLayout | None:
    """What a new stream is folded like: a stream with state that it is joined with."""
    joined = {other for group in request.copartition_groups if stream in group for other in group}
    known = (layout.streams.get(other) for other in sorted(joined - {stream}))
    return next((other for other in known if other is not None and other.initial), None)


def _folded(request: Request, layout: Layout, stream: str, count: int) -> Fold | Refusal:
    known = layout.streams.get(stream)
    if known is not None and known.initial:
        if count < known.last:
            return shrinks(stream, known.last, count)
        indexes = initial_indexes(stream, count, known.initial, request.algorithm)
        if isinstance(indexes, Refusal):
            return indexes
        return _moved(request, known, stream, indexes) or Fold(known.initial, indexes, known.owners)
    model = like(layout, stream, request)
    initial, owners = (model.initial, model.owners) if model else (count, (None,) * count)
    indexes = initial_indexes(stream, count, initial, request.algorithm)
    return indexes if isinstance(indexes, Refusal) else Fold(initial, indexes, owners)


def _moved(request: Request, known: StreamLayout, stream: str, indexes: list[int]) -> Refusal | None:
    """The contract across growths: what one growth decided about a partition, the next may not change."""
    if request.algorithm is modulo and not known.folds:
        return None
    seen = range(known.initial, known.last)
    former = known.folds or tuple(index % known.initial for index in seen)
    for index, before, now in zip(seen, former, indexes[known.initial :], strict=False):
        if before != now:
            return Refusal(
                Reason.EXPANSION_ALGORITHM_INVALID,
                f"{stream}#{index}",
                f"the expansion algorithm sends it to partition {now}, and earlier sent it to {before}",
                f"name the former algorithm in {ALGORITHM_KEY}, or raise resetNonce to give the state up",
            )
    return None


def remembered(known: StreamLayout, fold: Fold, owners: tuple[str | None, ...]) -> StreamLayout:
    """What to remember of a folded stream."""
    count = len(fold.indexes)
    later = fold.indexes[fold.initial :]
    as_modulo = later == [index % fold.initial for index in range(fold.initial, count)]
    return StreamLayout(
        first=known.first,
        last=count,
        initial=fold.initial,
        owners=owners,
        folds=() if as_modulo else tuple(later),
    )
