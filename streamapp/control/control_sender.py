"""The control messages that an upstream task writes to an intermediate stream, and their times."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamapp.control.control_message import ENDED, NO_BOUND, Control, EndOfStream, UpstreamTask, Watermark
from streamapp.control.message_codec import encode_message
from streamapp.control.stream_watermark import lowest_watermark
from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class LastSent:
    """The last message of a task to a stream: its model, watermark and time. Part of the checkpoint."""

    model: int
    watermark: int
    at: int


@dataclass(frozen=True, slots=True)
class ControlSender:
    """One task's word to one intermediate stream."""

    stream: str
    partitions: int
    speaker: UpstreamTask
    interval: int  # milliseconds between two watermarks

    def due(self, watermark: int | None, sent: LastSent | None, now: int) -> Control | None:
        """The message to write, given what the task has reached; None where nothing is to be said yet.

        An end is written at once, and so is the first word in a new model: its readers wait for all of them.
        """
        at = self.due_at(watermark, sent, now)
        if watermark is None or at is None or at > now:
            return None
        if watermark == ENDED:
            return EndOfStream(self.speaker, self.stream)
        return Watermark(self.speaker, watermark)

    def due_at(self, watermark: int | None, sent: LastSent | None, now: int) -> int | None:
        """The time of the next message if nothing more happens; None where there is nothing to say.

        A driver without input runs a batch at this time, so that the last watermark is not kept back.
        """
        if watermark is None:
            return None
        if sent is None or sent.model != self.speaker.model:
            return now
        if watermark <= sent.watermark:
            return None
        # A clock that was set back must not silence the task until it has caught up.
        if watermark == ENDED or now < sent.at:
            return now
        return max(now, sent.at + self.interval)

    def sent(self, message: Control, now: int) -> LastSent:
        """The `LastSent` of a message that was written."""
        return LastSent(self.speaker.model, message.reached, now)

    def records(self, message: Control) -> tuple[tuple[Partition, bytes], ...]:
        """The message for every partition: each reader has to hear from every upstream task."""
        value = encode_message(message) or b""
        return tuple((Partition(self.stream, index), value) for index in range(self.partitions))


def output_watermark(
    sources: Iterable[str], watermarks: Mapping[str, int | None], timed: bool = True
) -> int | None:
    """The watermark of a task for a stream that these sources reach: the lowest of those that it reads.

    Without event times in any source of the stream (not `timed`) only its end is worth a message.
    """
    reached = lowest_watermark(watermarks[source] for source in sources if source in watermarks)
    return reached if timed or reached == ENDED else None


def starting_watermark(timed: bool) -> int | None:
    """A source partition's watermark before its first record: one without event times holds nobody back."""
    return None if timed else NO_BOUND
