"""Tasks that shuffle through streams of their own, without an engine: the product's rules, put together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from streamapp.control.bookkeeping import Bookkeeping, take_bookkeeping
from streamapp.control.bookkeeping_codec import decode_bookkeeping, encode_bookkeeping
from streamapp.control.control_message import (
    ENDED,
    Control,
    EndOfStream,
    Message,
    UpstreamTask,
    UserRecord,
    Watermark,
)
from streamapp.control.control_reader import ControlReader
from streamapp.control.control_sender import ControlSender, LastSent, output_watermark
from streamapp.control.end_of_stream import all_ended
from streamapp.control.message_codec import decode_message, encode_message
from streamapp.control.upstream_tasks import reading_tasks, upstream_tasks
from streamapp.tasks.groupers.grouping_request import Assignment, GroupingRequest
from streamapp.tasks.groupers.task_grouping import group_tasks
from streamapp.tasks.partition import Partition


def through_bookkeeping(reader: ControlReader) -> ControlReader:
    """The reader that another processor has from this one's checkpoint."""
    books = decode_bookkeeping(encode_bookkeeping(take_bookkeeping(reader, {}, 0)))
    assert isinstance(books, Bookkeeping), books
    partitions = [
        Partition(name, index) for name, stream in reader.streams.items() for index in stream.partitions
    ]
    return ControlReader.of(partitions, 0, reader.readings, books.partitions, books.emitted)


def message_of(stream: str, task: str, tasks: int, timestamp: int = ENDED) -> Control:
    """What an upstream task says, as it comes out of its record."""
    speaker = UpstreamTask(task, tasks, "run", 1)
    message = EndOfStream(speaker, stream) if timestamp == ENDED else Watermark(speaker, timestamp)
    read = decode_message(encode_message(message))
    assert isinstance(read, Watermark | EndOfStream), read
    return read


@dataclass
class Shuffles:
    """A chain of streams, each made from the one before; the first is the source."""

    counts: Mapping[str, int]
    logs: dict[Partition, list[Message]] = field(default_factory=dict)
    ends: list[str] = field(default_factory=list)  # the streams of whose end a task was told, in order
    received: int = 0

    def __post_init__(self) -> None:
        names = list(self.counts)
        formed = group_tasks(GroupingRequest({name: range(count) for name, count in self.counts.items()}))
        assert isinstance(formed, Assignment), formed
        self.partitions = {task: formed.partitions(task) for task in formed.tasks}
        self.source_of = dict(zip(names[1:], names, strict=False))
        reaching = {stream: [source] for stream, source in self.source_of.items()}
        self.upstream = upstream_tasks(reaching, reading_tasks(self.partitions))
        self.tasks = {task: ControlReader.of(own, 0) for task, own in self.partitions.items()}
        self.logs = {Partition(name, index): [] for name in names[1:] for index in range(self.counts[name])}
        self.positions: dict[Partition, int] = dict.fromkeys(self.logs, 0)
        self.sent: dict[tuple[str, str], LastSent] = {}

    def add_records(self, count: int) -> None:
        """Records of the source, handed on to the next stream in turns."""
        stream = next(iter(self.source_of))
        for number in range(count):
            self.logs[Partition(stream, number % self.counts[stream])].append(UserRecord(b"record"))

    def end_source(self) -> None:
        """All partitions of the source end, one after the other; the tasks go on until nothing moves."""
        source = next(iter(self.counts))
        for index in range(self.counts[source]):
            place = Partition(source, index)
            for task in (task for task, own in self.partitions.items() if place in own):
                self.tasks[task].reach(place, ENDED, 0)
            while any([self.turn(task) for task in self.tasks]):  # noqa: C419 - all have their turn
                pass

    def turn(self, task: str) -> bool:
        """One batch of a task: it reads, is told, and speaks; whether anything happened."""
        reader, busy = self.tasks[task], False
        for place in self.partitions[task]:
            for message in self.logs.get(place, [])[self.positions.get(place, 0) :]:
                busy = True
                self.positions[place] += 1
                if isinstance(message, UserRecord):
                    self.received += 1
                else:
                    reader.accept(place, message, 0)
        for stream, moved in reader.advance(0).items():
            busy = True
            if moved == ENDED:
                self.ends.append(stream)
        return any([self._speaks(task, stream) for stream in self.source_of]) or busy  # noqa: C419

    def _speaks(self, task: str, stream: str) -> bool:
        if task not in self.upstream[stream]:
            return False
        speaker = UpstreamTask(task, len(self.upstream[stream]), "run", 1)
        sender = ControlSender(stream, self.counts[stream], speaker, interval=0)
        reached = output_watermark([self.source_of[stream]], self.tasks[task].watermarks())
        message = sender.due(reached, self.sent.get((task, stream)), 0)
        if message is None:
            return False
        self.sent[task, stream] = sender.sent(message, 0)
        for place, value in sender.records(message):
            read = decode_message(value)
            assert isinstance(read, Watermark | EndOfStream), read
            self.logs[place].append(read)
        return True

    def end_messages(self, stream: str) -> int:
        """How many messages of an end were written to a stream."""
        return sum(
            isinstance(message, EndOfStream)
            for place, log in self.logs.items()
            if place.stream == stream
            for message in log
        )

    def terminates(self) -> bool:
        return all(all_ended(task.streams.values()) for task in self.tasks.values())

    def in_order(self, first: str, then: str) -> bool:
        """Whether no task was told of the end of `then` before all were told of that of `first`."""
        last_of_first = len(self.ends) - self.ends[::-1].index(first)
        return then not in self.ends[:last_of_first]


def watermarks_beside(log: Sequence[Message], place: Partition) -> Iterator[tuple[Message, int | None]]:
    """Each message of a partition that a task reads alone, one a batch, with the watermark by then."""
    reader = ControlReader.of([place], 0)
    watermark: int | None = None
    for message in log:
        if not isinstance(message, UserRecord):
            reader.accept(place, message, 0)
            watermark = reader.advance(0).get(place.stream, watermark)
        yield message, watermark
