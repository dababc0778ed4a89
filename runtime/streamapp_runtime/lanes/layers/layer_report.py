"""What one layer of a lane says of a task to the layers after it: JSON in a row of its own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from streamapp.side_inputs.side_input_version import EndOfVersion
from streamapp.tasks.partition import Partition
from streamapp_runtime.lanes.event_time.watermark_receiver import WatermarkUpdate


@dataclass(frozen=True, slots=True)
class LayerReport:
    """Counts to be added, why the task cannot go on, and how far its side inputs came."""

    counts: Sequence[int] = ()
    told: tuple[str, str] | None = None
    arrived: Mapping[Partition, int] = field(default_factory=dict)  # all rows before have been handed on
    contained: Mapping[Partition, int] = field(default_factory=dict)  # and these are in stores
    times: Mapping[str, float] = field(default_factory=dict)  # of the lane: seconds by step
    published: Mapping[str, str] = field(default_factory=dict)  # versions made, by broadcast table
    counted: Sequence[tuple[str, str, int]] = ()  # of the lane: by counter, and by table or operator
    seals: Mapping[Partition, EndOfVersion] = field(default_factory=dict)  # ends of versions that arrived
    held: Sequence[str] = ()  # what is not read on, and the side inputs of which nothing is seen yet
    news: WatermarkUpdate | None = None  # what the task has reached in event time

    def text(self) -> str:
        """As it travels."""
        said: dict[str, object] = {"counts": self.counts, "told": self.told, "times": self.times}
        said |= {"counted": self.counted, "published": self.published, "held": list(self.held)}
        said["seals"] = {str(p): (seal.upstream, seal.upstreams) for p, seal in self.seals.items()}
        said["news"] = asdict(self.news) if self.news else None
        for name, positions in (("arrived", self.arrived), ("contained", self.contained)):
            said[name] = {str(partition): at for partition, at in positions.items()}
        return json.dumps(said)

    @classmethod
    def parse(cls, text: str) -> "LayerReport":
        """As it was said."""
        said = json.loads(text)
        arrived, contained = (
            {Partition.parse(name): at for name, at in said[part].items()}
            for part in ("arrived", "contained")
        )
        news = WatermarkUpdate(**said["news"]) if said["news"] else None
        told = tuple(said["told"]) if said["told"] else None
        lane = said["times"], said["published"], said["counted"]
        seals = {Partition.parse(name): EndOfVersion(*seal) for name, seal in said["seals"].items()}
        return cls(said["counts"], told, arrived, contained, *lane, seals, said["held"], news)
