"""Words of upstream tasks, and who hears them."""

from streamapp.control.control_message import Control, EndOfStream, UpstreamTask, Watermark
from streamapp.control.control_reader import ControlReader
from streamapp.control.stream_watermark import WatermarkPolicy
from streamapp.tasks.partition import Partition

P = [Partition("int", index) for index in range(4)]


def says(task: str | None, timestamp: int, *, of: int = 2, model: int = 1, run: str = "r") -> Control:
    return Watermark(UpstreamTask(task, of, run, model), timestamp)


def ends(task: str | None, *, of: int = 2, model: int = 1, run: str = "r") -> Control:
    return EndOfStream(UpstreamTask(task, of, run, model), "int")


def reader(partitions: int = 1, reading: WatermarkPolicy | None = None, now: int = 0) -> ControlReader:
    return ControlReader.of(P[:partitions], now, {"int": reading or WatermarkPolicy()})


def hears(listener: ControlReader, partition: Partition, message: Control, now: int = 0) -> int | None:
    """What the task is told of the partition's stream by one message; None where nothing moved."""
    listener.accept(partition, message, now)
    return listener.advance(now).get(partition.stream)
