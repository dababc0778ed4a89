"""A source, a partitionBy and a sink, as tasks run them: the rules put together without an engine."""

from streamapp.control.control_message import EndOfStream, UpstreamTask, Watermark
from streamapp.control.control_reader import ControlReader
from streamapp.control.control_sender import ControlSender, LastSent, output_watermark
from streamapp.control.message_codec import decode_message
from streamapp.tasks.partition import Partition

Watermarks = dict[str, dict[str, dict[str, int | None]]]
"""Task -> operator -> side -> watermark."""


class Pipeline:
    """Tasks that read partition n of a source and of the intermediate stream that they write together."""

    def __init__(self, sources: int, intermediate: int) -> None:
        self.partitions = {"source": sources, "int": intermediate}
        read = {
            f"task {index}": [
                Partition(name, index) for name, count in self.partitions.items() if index < count
            ]
            for index in range(max(sources, intermediate))
        }
        self.tasks = {task: ControlReader.of(partitions, 0) for task, partitions in read.items()}
        self.sent: dict[str, LastSent] = {}

    def step(self, index: int, reached: int, now: int) -> None:
        """A source partition reaches a watermark; its task writes, and everyone hears."""
        writer = f"task {index}"
        self.tasks[writer].reach(Partition("source", index), reached, now)
        self.tasks[writer].advance(now)
        sender = ControlSender(
            "int",
            self.partitions["int"],
            UpstreamTask(writer, self.partitions["source"], "run", 1),
            interval=0,
        )
        watermark = output_watermark(["source"], self.tasks[writer].watermarks())
        message = sender.due(watermark, self.sent.get(writer), now)
        if message is None:
            return
        self.sent[writer] = sender.sent(message, now)
        for partition, value in sender.records(message):
            heard = decode_message(value)
            assert isinstance(heard, Watermark | EndOfStream), heard
            for task in self.tasks.values():
                task.accept(partition, heard, now)
        for task in self.tasks.values():
            task.advance(now)

    def watermarks(self) -> Watermarks:
        """What each task's operators have; none of them keeps a watermark back."""
        found: Watermarks = {}
        for name, task in self.tasks.items():
            told = task.watermarks()
            found[name] = {
                operator: {"input_watermark": told[stream], "output_watermark": told[stream]}
                for operator, stream in (("partition_by", "source"), ("sink", "int"))
                if stream in told
            }
        return found
