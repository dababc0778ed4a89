"""The layout of an app's tasks, kept from the moment they first hold state. It decides correctness.

The layout holds no more than is needed to answer, for any partition ever seen, which task holds the state of
its keys. It is written beside the state; every other copy is a convenience.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.tasks.key_placement import folded_index
from streamapp.tasks.layouts.split import Split
from streamapp.tasks.partition import Partition


@dataclass(frozen=True, slots=True)
class StreamLayout:
    """The remembered layout of one stream. `initial` is 0 as long as no state depends on it."""

    first: int  # partitions when the app first read it: later ones are read from their oldest record
    last: int  # partitions seen last
    initial: int = 0  # partitions when its state began, or those of the stream it was folded like
    owners: tuple[str | None, ...] = ()  # the task of each initial partition
    folds: tuple[int, ...] = ()  # initial indexes of later partitions, where they are not index mod initial

    def initial_index(self, index: int) -> int:
        """The initial partition that held the keys of one seen so far."""
        return folded_index(index, self.initial, self.folds)

    def owner(self, index: int) -> str | None:
        """The task with the state of a partition; None if it never had a task of its own."""
        return self.owners[self.initial_index(index)] if self.owners and index < self.last else None


@dataclass(frozen=True, slots=True)
class Layout:
    """All that is remembered: streams (removed ones too), changelog partitions, splits under way."""

    run: str
    grouper: str
    streams: Mapping[str, StreamLayout] = field(default_factory=dict)
    changelog: Mapping[str, int] = field(default_factory=dict)
    everywhere: tuple[str, ...] = ()  # tasks that each read every partition
    splits: tuple[Split, ...] = ()
    ends: Mapping[Partition, int] = field(default_factory=dict)  # where the inputs of a batch run end

    @property
    def has_state(self) -> bool:
        """True if any task holds state under this layout."""
        return any(stream.initial for stream in self.streams.values())


def owners_of(streams: Mapping[str, StreamLayout]) -> dict[Partition, str]:
    """The task of each initial partition that has one."""
    return {
        Partition(name, index): owner
        for name, stream in sorted(streams.items())
        for index, owner in enumerate(stream.owners)
        if owner is not None
    }
