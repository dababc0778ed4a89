"""The fixed-tasks form of every grouper: partitions of a growth follow the task that held their keys."""

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
    """A stream folded onto the initial partitions of itself, or of its join partner, at first state."""

    initial: int
    indexes: Sequence[int]  # the initial index of each partition
    owners: tuple[str | None, ...]  # of each initial partition; None where not remembered
    later: tuple[int, ...] = ()  # the initial indexes of later partitions, if not index mod initial


def unfolded_stream(count: int) -> Fold:
    """The fold of a stream without remembered owners."""
    return Fold(count, range(count), (None,) * count)


def fold_streams(
    request: GroupingRequest, layout: Layout, counts: Mapping[str, int]
) -> dict[str, Fold] | Refusal:
    """The fold of every keyed stream of an app with state, or the first refusal."""
    folds: dict[str, Fold] = {}
    for stream, count in counts.items():
        fold = _fold_stream(request, layout, stream, count)
        if isinstance(fold, Refusal):
            return fold
        folds[stream] = fold
    return folds


def _fold_stream(request: GroupingRequest, layout: Layout, stream: str, count: int) -> Fold | Refusal:
    stream_layout = layout.streams[stream]
    if stream_layout.initial and count < stream_layout.last:
        return shrunk_stream_refusal(stream, stream_layout.last, count)
    model = stream_layout if stream_layout.initial else _fold_model(request, layout, stream, count)
    keys_tied = stream not in request.without_state
    indexes = initial_indexes(stream, count, model.initial, request.algorithm, keys_tied=keys_tied)
    if isinstance(indexes, Refusal):
        return indexes if stream_layout.initial else _join_mismatch(stream, count, model.initial, indexes)
    refusal = _moved_partition(request, stream_layout, stream, indexes) if stream_layout.initial else None
    if refusal:
        return refusal
    later = indexes[model.initial :]
    as_modulo = later == [index % model.initial for index in range(model.initial, count)]
    return Fold(model.initial, indexes, model.owners, () if as_modulo else tuple(later))


def _fold_model(request: GroupingRequest, layout: Layout, stream: str, count: int) -> StreamLayout:
    """The layout that a new stream follows: a joined stream with state, or else its own count."""
    joined_streams = {
        stream_layout for group in request.copartition_groups if stream in group for stream_layout in group
    }
    joined_layouts = (layout.streams.get(stream_layout) for stream_layout in sorted(joined_streams))
    new_layout = StreamLayout(count, count, count, (None,) * count)
    return next(
        (
            stream_layout
            for stream_layout in joined_layouts
            if stream_layout is not None and stream_layout.initial
        ),
        new_layout,
    )


def _join_mismatch(stream: str, count: int, initial: int, refusal: Refusal) -> Refusal:
    """The refusal of a new stream whose count does not fit: a stream without history fails as a join."""
    if refusal.reason is Reason.EXPANSION_ALGORITHM_INVALID:
        return refusal
    return Refusal(
        Reason.JOIN_PARTITION_MISMATCH,
        stream,
        f"its {count} partitions cannot be laid onto the {initial} "
        "with which the state of what it is joined with began",
        f"give it a multiple of {initial} partitions, or repartition it by the join's key first",
    )


def _moved_partition(
    request: GroupingRequest, stream_layout: StreamLayout, stream: str, indexes: list[int]
) -> Refusal | None:
    """The refusal of a partition whose initial index changed since an earlier growth."""
    if request.algorithm is modulo and not stream_layout.folds:
        return None
    seen_indexes = range(stream_layout.initial, stream_layout.last)
    former_folds = stream_layout.folds or tuple(index % stream_layout.initial for index in seen_indexes)
    for index, former_index, new_index in zip(
        seen_indexes, former_folds, indexes[stream_layout.initial :], strict=False
    ):
        if former_index != new_index:
            return Refusal(
                Reason.EXPANSION_ALGORITHM_INVALID,
                f"{stream}#{index}",
                f"the expansion algorithm sends it to partition {new_index}, "
                f"and earlier sent it to {former_index}",
                f"name the former algorithm in {ALGORITHM}, or raise resetNonce to give the state up",
            )
    return None


def remembered_layout(
    stream_layout: StreamLayout, fold: Fold, owners: tuple[str | None, ...]
) -> StreamLayout:
    """The layout to remember of a folded stream."""
    return StreamLayout(stream_layout.first, len(fold.indexes), fold.initial, owners, fold.later)
