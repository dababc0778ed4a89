"""The fixed-tasks form of every grouper: what came with a growth follows the keys it took over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.expansion.expansion_algorithm import initial_indexes, modulo, shrunk_stream_refusal
from streamapp.tasks.groupers.grouping_request import GroupingRequest
from streamapp.tasks.layouts.layout import Layout, StreamLayout
from streamapp.tasks.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Fold:
    """A stream laid onto the partitions that it, or what it is joined with, had when state began."""

    initial: int
    indexes: Sequence[int]  # the initial index of each partition
    owners: tuple[str | None, ...]  # of each initial partition, as far as remembered
    later: tuple[int, ...] = ()  # the initial indexes of later partitions, if not index mod initial


def unfolded_stream(count: int) -> Fold:
    """A stream that nothing is remembered of."""
    return Fold(count, range(count), (None,) * count)


def fold_streams(
    request: GroupingRequest, layout: Layout, counts: Mapping[str, int]
) -> dict[str, Fold] | Refusal:
    """Every keyed stream of an app with state, folded; or why one cannot be."""
    folds: dict[str, Fold] = {}
    for stream, count in counts.items():
        fold = _folded(request, layout, stream, count)
        if isinstance(fold, Refusal):
            return fold
        folds[stream] = fold
    return folds


def _folded(request: GroupingRequest, layout: Layout, stream: str, count: int) -> Fold | Refusal:
    known = layout.streams[stream]
    if known.initial and count < known.last:
        return shrunk_stream_refusal(stream, known.last, count)
    model = known if known.initial else _like(request, layout, stream, count)
    indexes = initial_indexes(stream, count, model.initial, request.algorithm)
    if isinstance(indexes, Refusal):
        return indexes if known.initial else _unlike(stream, count, model.initial, indexes)
    moved = _moved(request, known, stream, indexes) if known.initial else None
    if moved:
        return moved
    later = indexes[model.initial :]
    as_modulo = later == [index % model.initial for index in range(model.initial, count)]
    return Fold(model.initial, indexes, model.owners, () if as_modulo else tuple(later))


def _like(request: GroupingRequest, layout: Layout, stream: str, count: int) -> StreamLayout:
    """What a new stream is folded like: a stream with state that it is joined with, or else nothing."""
    joined = {other for group in request.copartition_groups if stream in group for other in group}
    known = (layout.streams.get(other) for other in sorted(joined))
    alone = StreamLayout(count, count, count, (None,) * count)
    return next((other for other in known if other is not None and other.initial), alone)


def _unlike(stream: str, count: int, initial: int, refusal: Refusal) -> Refusal:
    """A new stream has no history: where its count does not fit, it is the join that fails."""
    if refusal.reason is Reason.EXPANSION_ALGORITHM_INVALID:
        return refusal
    return Refusal(
        Reason.JOIN_PARTITION_MISMATCH,
        stream,
        f"its {count} partitions cannot be laid onto the {initial} "
        "with which the state of what it is joined with began",
        f"give it a multiple of {initial} partitions, or repartition it by the join's key first",
    )


def _moved(request: GroupingRequest, known: StreamLayout, stream: str, indexes: list[int]) -> Refusal | None:
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
                f"name the former algorithm in {ALGORITHM}, or raise resetNonce to give the state up",
            )
    return None


def remembered_layout(known: StreamLayout, fold: Fold, owners: tuple[str | None, ...]) -> StreamLayout:
    """What to remember of a folded stream."""
    return StreamLayout(known.first, len(fold.indexes), fold.initial, owners, fold.later)
