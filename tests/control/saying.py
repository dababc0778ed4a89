"""Words of upstream tasks, and who hears them."""

from streamapp.control.message import Control, EndOfStream, Speaker, Watermark
from streamapp.control.reader import Reader
from streamapp.control.watermark import Reading
from streamapp.tasks.partition import Partition

P = [Partition("int", index) for index in range(4)]


def says(task: str | None, timestamp: int, *, of: int = 2, model: int = 1, run: str = "r") -> Control:
    return Watermark(Speaker(task, of, run, model), timestamp)


def ends(task: str | None, *, of: int = 2, model: int = 1, run: str = "r") -> Control:
    return EndOfStream(Speaker(task, of, run, model), "int")


def reader(partitions: int = 1, reading: Reading | None = None, now: int = 0) -> Reader:
    return Reader.of(P[:partitions], now, {"int": reading or Reading()})


def hears(listener: Reader, partition: Partition, message: Control, now: int = 0) -> int | None:
    """What the task is told of the partition's stream by one message; None where nothing moved."""
    listener.accept(partition, message, now)
    return listener.advance(now).get(partition.stream)
