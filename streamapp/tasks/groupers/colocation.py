"""Joined streams must send a key to one task, whatever counts the streams have grown to."""

from collections.abc import Collection, Mapping
from itertools import pairwise

from streamapp.spec.reasons import Reason
from streamapp.tasks.layouts.layout import StreamLayout
from streamapp.tasks.refusal import Refusal


def join_across_tasks(
    copartition_groups: Collection[Collection[str]], streams: Mapping[str, StreamLayout]
) -> Refusal | None:
    """A refusal of the first two joined streams whose keys belong to different tasks."""
    for group in copartition_groups:
        joined_streams = sorted(stream for stream in group if stream in streams)
        for first, second in pairwise(joined_streams):
            difference = _owner_difference(first, streams[first], second, streams[second])
            if difference:
                return Refusal(
                    Reason.JOIN_PARTITION_MISMATCH,
                    second,
                    f"it is joined with {first}, and {difference}, so their keys would not meet",
                    f"repartition {second} by the join's key first",
                )
    return None


def _owner_difference(
    first: str, first_layout: StreamLayout, second: str, second_layout: StreamLayout
) -> str | None:
    if first_layout.initial != second_layout.initial:
        second_count, first_count = second_layout.initial, first_layout.initial
        return f"keys are spread over {second_count} tasks' partitions here and over {first_count} there"
    for index, (first_owner, second_owner) in enumerate(
        zip(first_layout.owners, second_layout.owners, strict=True)
    ):
        # A partition without an owner yet, broadcast or absent, separates no keys.
        if first_owner != second_owner and first_owner is not None and second_owner is not None:
            return f"{first}#{index} belongs to {first_owner} and {second}#{index} to {second_owner}"
    return None
