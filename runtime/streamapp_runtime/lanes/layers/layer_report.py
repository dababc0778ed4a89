"""The report of one layer of a lane about a task to the layers after it: JSON in a row of its own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from streamapp.side_inputs.side_input_version import EndOfVersion
from streamapp.tasks.partition import Partition
from streamapp_runtime.lanes.event_time.watermark_receiver import WatermarkUpdate
from streamapp_runtime.lanes.protocol.failed_rows import FailedRecord, failed_records_of
from streamapp_runtime.lanes.protocol.rejections import RejectionReport
from streamapp_runtime.lanes.protocol.state_query import StateAnswer
from streamapp_runtime.lanes.protocol.task_status import TaskStatus


@dataclass(frozen=True, slots=True)
class LayerReport:
    """Counts to be added, why the task cannot go on, and how far its side inputs came."""

    counts: Sequence[int] = ()
    failure: tuple[TaskStatus, str] | None = None  # the status, and why
    arrived: Mapping[Partition, int] = field(default_factory=dict)  # all rows before have been handed on
    contained: Mapping[Partition, int] = field(default_factory=dict)  # and these are in stores
    times: Mapping[str, float] = field(default_factory=dict)  # of the lane: seconds by step
    published: Mapping[str, str] = field(default_factory=dict)  # versions made, by broadcast table
    counted: Sequence[tuple[str, str, int]] = ()  # of the lane: by counter, and by table or operator
    seals: Mapping[Partition, EndOfVersion] = field(default_factory=dict)  # ends of versions that arrived
    paused_inputs: Sequence[str] = ()  # what is not read on, and the side inputs of which nothing is seen yet
    watermark_update: WatermarkUpdate | None = None  # what the task has reached in event time
    rejections: RejectionReport = field(default_factory=RejectionReport)  # what was left out
    failed_records: Sequence[FailedRecord] = ()  # of the lane: those on which an expression failed
    answers: Sequence[StateAnswer] = ()  # of the lane: to what it was asked of its state

    def text(self) -> str:
        """As it travels."""
        fields: dict[str, object] = {"counts": self.counts, "failure": self.failure, "times": self.times}
        fields |= {"counted": self.counted, "published": self.published}
        fields["paused_inputs"] = list(self.paused_inputs)
        fields["rejections"] = self.rejections.fields()
        fields["failed_records"] = list(self.failed_records)
        fields["answers"] = [answer.fields() for answer in self.answers]
        fields["seals"] = {str(p): (seal.upstream, seal.upstreams) for p, seal in self.seals.items()}
        fields["watermark_update"] = asdict(self.watermark_update) if self.watermark_update else None
        for name, positions in (("arrived", self.arrived), ("contained", self.contained)):
            fields[name] = {str(partition): at for partition, at in positions.items()}
        return json.dumps(fields)

    @classmethod
    def parse(cls, text: str) -> "LayerReport":
        """As it was sent."""
        fields = json.loads(text)
        failure, update = fields["failure"], fields["watermark_update"]
        return cls(
            counts=fields["counts"],
            failure=(TaskStatus(failure[0]), failure[1]) if failure else None,
            arrived=_positions(fields["arrived"]),
            contained=_positions(fields["contained"]),
            times=fields["times"],
            published=fields["published"],
            counted=fields["counted"],
            seals={Partition.parse(name): EndOfVersion(*seal) for name, seal in fields["seals"].items()},
            paused_inputs=fields["paused_inputs"],
            watermark_update=WatermarkUpdate(**update) if update else None,
            rejections=RejectionReport.parse(fields["rejections"]),
            failed_records=failed_records_of(fields["failed_records"]),
            answers=[StateAnswer.of_fields(values) for values in fields["answers"]],
        )


def _positions(texts: Mapping[str, int]) -> dict[Partition, int]:
    return {Partition.parse(name): at for name, at in texts.items()}
