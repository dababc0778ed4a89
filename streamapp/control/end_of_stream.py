"""Ended tasks, partitions and streams.

An end is the last watermark: reconciled, told once and remembered like any other.
"""

from collections.abc import Collection, Mapping

from streamapp.control.control_message import ENDED
from streamapp.control.stream_watermark import StreamWatermark
from streamapp.control.upstream import UpstreamProgress


def tasks_ended(upstream: UpstreamProgress) -> frozenset[str]:
    """The upstream tasks of the newest model that have ended, as this partition has heard."""
    return frozenset(task for task, reached in upstream.reached.items() if reached == ENDED)


def partition_ended(upstream: UpstreamProgress) -> bool:
    """True if all upstream tasks have ended, so that the partition holds nothing more."""
    return upstream.watermark == ENDED


def stream_ended(stream: StreamWatermark) -> bool:
    """True if the task was told that the stream has ended."""
    return stream.emitted == ENDED


def ends_among(moved: Mapping[str, int]) -> tuple[str, ...]:
    """The streams that end by these watermarks, each told once."""
    return tuple(stream for stream, watermark in moved.items() if watermark == ENDED)


def all_ended(streams: Collection[StreamWatermark]) -> bool:
    """True if a task has nothing more to wait for. A task without a stream has ended."""
    return all(stream_ended(stream) for stream in streams)
