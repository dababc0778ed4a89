"""The incarnations of an app's drivers: each start, and each recovery, is one further than all before.

Recorded in the app's checkpoint stream, so that a driver and a worker can tell that they have been replaced.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp_runtime.checkpoint_entries import INCARNATION
from streamapp_runtime.systems.stream_system import FencedError, StreamSystem


@dataclass(frozen=True, slots=True)
class Incarnation:
    """The run that is going on, and how often a driver took it up."""

    run_id: str = ""
    number: int = 0

    def encode(self) -> bytes:
        """As it is recorded."""
        return INCARNATION.encode({"run": self.run_id, "incarnation": self.number})


def read_incarnation(values: Mapping[bytes, bytes], stream: str) -> Incarnation:
    """The incarnation that a checkpoint stream holds; the first one of all where no driver has been."""
    recorded = INCARNATION.read(
        values, stream, lambda fields: Incarnation(str(fields["run"]), int(fields["incarnation"]))
    )
    return recorded or Incarnation()


def check_newest(system: StreamSystem, stream: str, number: int) -> None:
    """FencedError when a later incarnation than this one has been recorded."""
    newest = read_incarnation(system.latest(stream), stream)
    if newest.number > number:
        raise FencedError(f"incarnation {newest.number} has taken over; this is {number}")
