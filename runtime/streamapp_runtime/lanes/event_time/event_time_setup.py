"""The event-time setup of an app's workers, besides its program: the same for all batches of a launch."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.control.control_message import NO_BOUND, UpstreamTask
from streamapp.control.control_sender import ControlSender
from streamapp.control.idle_rule import IdleRule
from streamapp.control.stream_watermark import WatermarkPolicy
from streamapp.control.upstream import UpstreamProgress
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint, EventTimeProgress
from streamapp_runtime.operators.state.event_clock import WatermarkReach


@dataclass(frozen=True, slots=True)
class WatermarkOutput:
    """A stream that the app makes, as its upstream tasks write control messages to it."""

    partitions: int
    tasks: int  # upstream tasks
    reach: WatermarkReach


@dataclass(frozen=True, slots=True)
class EventTimeSetup:
    """The streams that tasks read, those with event times, and the tasks that send watermarks to others."""

    run: str  # whose control messages count
    model: int  # the version of who reads what
    since: int  # since when this driver has listened
    interval: int  # milliseconds between two watermarks of a task to a stream
    partitions: Mapping[str, tuple[Partition, ...]]  # by task, without side inputs
    delays: Mapping[str, int]  # by source stream with event times
    timed: frozenset[str]
    made: frozenset[str]  # streams of the app's own
    controlled: frozenset[str]  # streams of other apps that carry control messages
    outlets: Mapping[str, WatermarkOutput]  # by stream
    states: Mapping[str, WatermarkReach]  # by operator
    idle: Mapping[str, IdleRule] = field(default_factory=dict)  # by source stream: of its partitions
    idle_tasks: Mapping[str, IdleRule] = field(default_factory=dict)  # by stream of the app's own
    turn: int = 0  # of a batch app, counted from 1

    def readings(self) -> dict[str, WatermarkPolicy]:
        """The watermark policy of each stream that is listened to."""
        policies = {stream: WatermarkPolicy(self.run, self.idle_tasks.get(stream)) for stream in self.made}
        return policies | {
            stream: WatermarkPolicy(idle_partitions=rule) for stream, rule in self.idle.items()
        }

    @property
    def idle_rules(self) -> dict[str, IdleRule]:
        """The streams that may go on without who is silent: partitions of a source, or upstream tasks."""
        return {**self.idle, **self.idle_tasks}

    def reached(self, checkpoint: Checkpoint | None) -> EventTimeProgress:
        """The event-time progress of a task, as its checkpoint says it for this turn."""
        progress = checkpoint.reached if checkpoint else None
        return progress or EventTimeProgress(self.turn)

    def first(self, stream: str) -> UpstreamProgress:
        """A partition of which nothing is known: one without event times holds nobody back."""
        return UpstreamProgress(since=self.since, watermark=None if stream in self.timed else NO_BOUND)

    def hears(self, stream: str) -> bool:
        """True if there is anything to be heard in the stream that a checkpoint has to remember."""
        return stream in self.delays or stream in self.made or stream in self.controlled

    def streams(self, task: str) -> frozenset[str]:
        """The streams that a task reads."""
        return frozenset(partition.stream for partition in self.partitions[task])

    def speaks(self, task: str, outlet: WatermarkOutput) -> bool:
        """True if a task is one of a stream's upstream tasks."""
        return not outlet.reach.holds.keys().isdisjoint(self.streams(task))

    def sender(self, task: str, stream: str) -> ControlSender:
        """A task's word to a stream."""
        outlet = self.outlets[stream]
        speaker = UpstreamTask(task, outlet.tasks, self.run, self.model)
        return ControlSender(stream, outlet.partitions, speaker, self.interval)
