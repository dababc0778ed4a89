"""The watermarks that follow from what a lane's tasks hear in one batch: made where records are read."""

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field

from streamapp.control.bookkeeping import Bookkeeping, resume_bookkeeping, take_bookkeeping
from streamapp.control.bookkeeping_codec import decode_bookkeeping, encode_bookkeeping
from streamapp.control.control_message import ENDED, Control
from streamapp.control.control_reader import ControlReader
from streamapp.control.end_of_stream import stream_ended
from streamapp.control.source_watermark import source_watermark
from streamapp.control.upstream import UpstreamProgress
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.checkpoint import Checkpoint, CheckpointUnreadableError, EventTimeProgress
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.lanes.protocol.batch_orders import TaskOrder

BookkeepingCache = MutableMapping[str, tuple[str, Bookkeeping]]
"""The books that were read last, by task, with their text: the next batch mostly begins with the same."""


@dataclass(frozen=True, slots=True)
class WatermarkUpdate:
    """The watermarks and bookkeeping that a task has reached after a batch."""

    watermarks: Mapping[str, int]
    bookkeeping: str
    idle_at: int | None = None  # when a silent partition will be left out, if nothing else happens
    short: Mapping[str, int] = field(default_factory=dict)  # without ends, where it was more


@dataclass(slots=True)
class WatermarkReceiver:
    """One task in one batch. Everything it knows is in its checkpoint, so that an attempt can be repeated."""

    keeping: EventTimeSetup
    order: TaskOrder
    checkpoint: Checkpoint | None
    now: int
    memory: BookkeepingCache
    _before: EventTimeProgress = field(init=False)
    _reader: ControlReader = field(init=False)
    _heard: bool = False

    def __post_init__(self) -> None:
        keeping, order = self.keeping, self.order
        self._before = keeping.reached(self.checkpoint)
        same_turn = self._before.turn == keeping.turn
        progress_of = self._known(same_turn)
        mine = keeping.partitions[order.name]
        emitted = self._before.watermarks if same_turn else {}
        for partition in mine:
            if partition not in progress_of:
                progress_of[partition] = keeping.first(partition.stream)
        self._reader = ControlReader.of(mine, keeping.since, keeping.readings(), progress_of, emitted)

    def hear(self, partition: Partition, message: Control) -> None:
        """Take a control message."""
        self._heard = self._reader.accept(partition, message, self.now) or self._heard

    def reach(self, partition: Partition, newest: int) -> None:
        """Take the newest event time among records of a source."""
        upstream = self._reader.upstream(partition)
        if upstream is not None and partition.stream in self.keeping.delays:
            delay = self.keeping.delays[partition.stream]
            watermark = source_watermark(upstream.watermark, newest, delay)
            upstream.spoken, self._heard = self.now, True
            if watermark is not None:
                self._reader.reach(partition, watermark, self.now)

    def update(self) -> WatermarkUpdate:
        """Everything was heard: what has been reached."""
        for upstream in self._upstreams(self.order.lagging):
            upstream.hold(self.now)  # who has more to say is not silent
            self._heard = True
        bookkeeping = self._written() if self._heard or not self._before.heard else self._before.heard
        # An end is not written to the books of a source: in another turn it continues from where it was.
        self._reader.advance(self.now)
        short = self._short() if self.keeping.turn else {}
        for stream, index in self.order.ended:
            self._reader.reach(Partition(stream, index), ENDED, self.now)
        self._reader.advance(self.now)
        return WatermarkUpdate(self._watermarks(), bookkeeping, min(self._idle_times(), default=None), short)

    def _watermarks(self) -> dict[str, int]:
        return {stream: at for stream, at in self._reader.watermarks().items() if at is not None}

    def _short(self) -> dict[str, int]:
        """The watermarks short of an end: of a stream that another's word has ended, the one before."""
        before = self._before.watermarks if self._before.turn == self.keeping.turn else {}
        reached = {
            stream: before.get(stream, at) if at == ENDED else at for stream, at in self._watermarks().items()
        }
        return {stream: at for stream, at in reached.items() if at != ENDED}

    def _known(self, same_turn: bool) -> dict[Partition, UpstreamProgress]:
        """The known progress of partitions: as of this task, or of the one that read them before."""
        books = self._decoded(self.order.name, self._before.heard)
        partitions = dict(books.partitions)
        if not same_turn:
            partitions = {
                p: upstream for p, upstream in partitions.items() if p.stream in self.keeping.delays
            }
            self._heard = True
        if self.order.inherited_bookkeeping:
            partitions |= self._decoded("", self.order.inherited_bookkeeping).partitions
            self._heard = True
        return partitions

    def _decoded(self, task: str, text: str) -> Bookkeeping:
        if not text:
            return Bookkeeping(self.keeping.since)
        remembered = self.memory.get(task)
        if remembered is None or remembered[0] != text:
            books = decode_bookkeeping(text)
            if isinstance(books, Refusal):
                raise CheckpointUnreadableError(f"task {self.order.name}: {books}")
            remembered = self.memory[task] = text, books
        books = remembered[1]
        return resume_bookkeeping(books, self.keeping.since) if books.at < self.keeping.since else books

    def _written(self) -> str:
        books = take_bookkeeping(self._reader, {}, self.now)
        partitions = {p: upstream for p, upstream in books.partitions.items() if self.keeping.hears(p.stream)}
        books = Bookkeeping(self.now, partitions)
        text = encode_bookkeeping(books)
        self.memory[self.order.name] = text, books
        return text

    def _upstreams(self, places: tuple[tuple[str, int], ...]) -> Iterator[UpstreamProgress]:
        for stream, index in places:
            upstream = self._reader.upstream(Partition(stream, index))
            if upstream is not None:
                yield upstream

    def _idle_times(self) -> Iterator[int]:
        for name, rule in self.keeping.idle_rules.items():
            stream = self._reader.streams.get(name)
            for upstream in stream.partitions.values() if stream and not stream_ended(stream) else ():
                yield from (at for at in upstream.idle_times(rule) if at > self.now)
