"""The progress of upstream tasks, as one partition has heard it, and the watermark that follows from it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Self

from streamapp.control.control_message import ENDED, Control, UpstreamTask
from streamapp.control.idle_rule import IdleRule


@dataclass(slots=True)
class UpstreamProgress:
    """The words of the newest model's tasks, and the watermark reached, which never goes back.

    A source partition has no upstream tasks; what it reaches is told directly. Every field is part of the
    checkpoint: the value restored from it continues exactly as this one would have.
    """

    since: int  # when listening to the partition began or, later, when its model was new
    watermark: int | None = None
    spoken: int | None = None  # when anything was heard last
    run: str | None = None
    left: str | None = None  # the run before: a late word of it does not bring it back
    model: int = 0
    tasks: int = 0
    reached: dict[str, int] = field(default_factory=dict)  # task -> the watermark it said last
    heard: dict[str, int] = field(default_factory=dict)  # task -> when it said so

    def accept(self, message: Control, now: int, run: str | None = None) -> bool:
        """Hear a message; whether it counted. Only those of `run` do or, without it, of the newest run."""
        speaker = message.speaker
        if not self._listens(speaker, now, run):
            return False
        if speaker.task is None:
            return self.reach(message.reached, now)
        # A task that started again from a checkpoint may repeat itself, but what it has said stands.
        if message.reached < self.reached.get(speaker.task, message.reached):
            return False
        self.reached[speaker.task] = message.reached
        self.heard[speaker.task] = self.spoken = now
        return True

    def reach(self, watermark: int, now: int) -> bool:
        """Take a watermark for the whole partition; whether it was at least the one there is."""
        if self.watermark is not None and watermark < self.watermark:
            return False
        self.watermark = watermark
        self.spoken = now
        return True

    def hold(self, now: int) -> None:
        """Count as heard: there is something to read, in which anybody may have spoken."""
        self.spoken = now
        if self.tasks:
            self.since = now
            self.heard = dict.fromkeys(self.heard, now)

    def idle_times(self, rule: IdleRule) -> Iterator[int]:
        """The times at which silent ones become idle: the partition or, where it has them, its tasks."""
        if not self.tasks:
            yield (self.since if self.spoken is None else self.spoken) + rule.timeout
            return
        if len(self.reached) < self.tasks:
            yield self.since + rule.timeout
        yield from (at + rule.timeout for task, at in self.heard.items() if self.reached[task] != ENDED)

    def advance(self, now: int, idle: IdleRule | None = None) -> int | None:
        """The watermark, after everything that was heard."""
        if self._advances(self._lowest()) or idle is None or self.watermark == ENDED:
            return self.watermark
        if self.tasks:
            self._advances(idle.lowest_active(self.reached, self.heard, self.tasks, self.since, now))
        return self.watermark

    def copy(self) -> Self:
        """The same, apart from this one."""
        return replace(self, reached=dict(self.reached), heard=dict(self.heard))

    def _listens(self, speaker: UpstreamTask, now: int, run: str | None) -> bool:
        if speaker.run != self.run:
            if speaker.run != run if run is not None else speaker.run == self.left:
                return False
            self._begin(speaker, now)
        elif speaker.model > self.model:
            self._begin(speaker, now)
        elif speaker.model < self.model:
            return False
        self.tasks = speaker.tasks
        return True

    def _begin(self, speaker: UpstreamTask, now: int) -> None:
        """Wait for all tasks of a new model. What those of the last one had reached together stays."""
        self._advances(self._lowest())
        if self.run is not None:
            self.since = now
        if speaker.run != self.run:
            self.left, self.run = self.run, speaker.run
        self.model = speaker.model
        self.reached, self.heard = {}, {}

    def _lowest(self) -> int | None:
        """The lowest word once all have spoken."""
        return min(self.reached.values()) if 0 < self.tasks <= len(self.reached) else None

    def _advances(self, watermark: int | None) -> bool:
        if watermark is None or (self.watermark is not None and watermark <= self.watermark):
            return False
        self.watermark = watermark
        return True
