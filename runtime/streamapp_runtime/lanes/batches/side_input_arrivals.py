"""The arrival of the rows of side inputs in one batch of a lane."""

from collections.abc import Collection
from dataclasses import dataclass, field

from streamapp.side_inputs.side_input_version import EndOfVersion
from streamapp.tasks.partition import Partition
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, ReadRange
from streamapp_runtime.lanes.records.version_end import VersionEnd
from streamapp_runtime.lanes.task_stores.side_input_stores import SideInputStores


@dataclass(slots=True)
class SideInputArrivals:
    """The positions that side inputs reached, and those in stores. Tasks go by place in the lane's order."""

    stores: SideInputStores
    arrived: dict[int, dict[Partition, int]] = field(default_factory=dict)  # all rows before have come
    contained: dict[int, dict[Partition, int]] = field(default_factory=dict)  # these are in stores
    seals: dict[Partition, EndOfVersion] = field(default_factory=dict)  # ends of versions that came
    paused_inputs: dict[int, list[str]] = field(default_factory=dict)  # what is not read on, or not seen yet
    published: dict[str, str] = field(default_factory=dict)  # versions made, by broadcast table

    def note_range(self, task: int, read: ReadRange, end: VersionEnd | None) -> None:
        """Note that all rows of a range were handed on, as far as the end of a version if it has one."""
        partition = Partition(read.stream, read.partition)
        self.arrived.setdefault(task, {})[partition] = end.position if end else read.end
        if end:
            self.seals[partition] = end.seal

    def apply(self, lane: LaneOrder, healthy: Collection[int]) -> None:
        """Commit what came for tasks of which nothing is missing, and make the versions that are wanted."""
        for index in healthy:
            if index in self.contained:
                contained = self.stores.apply(lane.tasks[index], self.arrived.get(index, {}), self.seals)
                self.contained[index].update(contained)
                self.paused_inputs.setdefault(index, []).extend(
                    self.stores.paused_inputs(lane.tasks[index].name)
                )
        for order in lane.shared if 0 in healthy else ():
            if order.makes and self.stores.publish(order):
                self.published[order.table] = order.makes
