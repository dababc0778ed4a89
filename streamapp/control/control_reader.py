"""A task's side of control messages: it hears them partition by partition and is told what has moved."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from streamapp.control.control_message import Control
from streamapp.control.stream_watermark import StreamWatermark, WatermarkPolicy
from streamapp.control.upstream import UpstreamProgress
from streamapp.tasks.partition import Partition

_AS_IT_COMES = WatermarkPolicy()


@dataclass(slots=True)
class ControlReader:
    """The streams that one task reads, with what their partitions have heard."""

    streams: dict[str, StreamWatermark] = field(default_factory=dict)
    readings: Mapping[str, WatermarkPolicy] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        partitions: Iterable[Partition],
        now: int,
        readings: Mapping[str, WatermarkPolicy] | None = None,
        known: Mapping[Partition, UpstreamProgress] | None = None,
        emitted: Mapping[str, int] | None = None,
    ) -> Self:
        """A task's reader, with what is known of its partitions and with what the task itself was told.

        What is known of a partition may come from the checkpoint of the task that owned it before.
        """
        known, emitted = known or {}, emitted or {}
        streams: dict[str, StreamWatermark] = {}
        for partition in sorted(partitions):
            stream = streams.setdefault(partition.stream, StreamWatermark({}, emitted.get(partition.stream)))
            progress = known.get(partition)
            stream.partitions[partition.index] = progress.copy() if progress else UpstreamProgress(since=now)
        return cls(streams, readings or {})

    def accept(self, partition: Partition, message: Control, now: int) -> bool:
        """Hear a message from a partition; whether it counted. One of another task's partition does not."""
        upstream = self.upstream(partition)
        return upstream is not None and upstream.accept(message, now, self._reading(partition.stream).run)

    def reach(self, partition: Partition, watermark: int, now: int) -> bool:
        """Take the watermark of a source partition, which speaks for itself; whether it counted."""
        upstream = self.upstream(partition)
        return upstream is not None and upstream.reach(watermark, now)

    def advance(self, now: int) -> dict[str, int]:
        """The streams whose watermark has moved since the last call, and to where.

        Call it once a batch, after all of the batch was heard: who speaks later in the same batch is then not
        taken for idle, and windows fire once.
        """
        moved: dict[str, int] = {}
        for name, stream in self.streams.items():
            watermark = stream.advance(now, self._reading(name))
            if watermark is not None:
                moved[name] = watermark
        return moved

    def watermarks(self) -> dict[str, int | None]:
        """The watermark of each stream as the task was told last."""
        return {name: stream.emitted for name, stream in self.streams.items()}

    def upstream(self, partition: Partition) -> UpstreamProgress | None:
        """The upstream progress of a partition; None where the task does not read it."""
        stream = self.streams.get(partition.stream)
        return None if stream is None else stream.partitions.get(partition.index)

    def _reading(self, stream: str) -> WatermarkPolicy:
        return self.readings.get(stream, _AS_IT_COMES)
