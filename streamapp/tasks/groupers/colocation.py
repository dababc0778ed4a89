"""Streams that are joined must send a key to one task, whatever the counts they have grown to."""

from collections.abc import Collection, Mapping
from itertools import pairwise

from streamapp.spec.reasons import Reason
from streamapp.tasks.layouts.layout import StreamLayout
from streamapp.tasks.refusal import Refusal


def join_across_tasks(
    copartition_groups: Collection[Collection[str]], streams: Mapping[str, StreamLayout]
) -> Refusal | None:
    """The first two streams that are joined and would meet in different tasks."""
    for group in copartition_groups:
        present = sorted(stream for stream in group if stream in streams)
        for one, other in pairwise(present):
            difference = _difference(one, streams[one], other, streams[other])
            if difference:
                return Refusal(
                    Reason.JOIN_PARTITION_MISMATCH,
                    other,
                    f"it is joined with {one}, and {difference}, so their keys would not meet",
                    f"repartition {other} by the join's key first",
                )
    return None


def _difference(one: str, left: StreamLayout, other: str, right: StreamLayout) -> str | None:
    if left.initial != right.initial:
        return f"keys are spread over {right.initial} tasks' partitions here and over {left.initial} there"
    for index, (mine, theirs) in enumerate(zip(left.owners, right.owners, strict=True)):
        # A partition that no task of its own has yet, broadcast or absent, parts nothing.
        if mine != theirs and mine is not None and theirs is not None:
            return f"{one}#{index} belongs to {mine} and {other}#{index} to {theirs}"
    return None
