"""Which driver an app has: each start, and each recovery, is one incarnation further than all before.

Recorded in the app's checkpoint stream, so that a driver and a worker can tell that they have been replaced.
"""

import json
from dataclasses import dataclass

from streamapp_runtime.checkpoint import DRIVER_KEY
from streamapp_runtime.systems.stream_system import FencedError, StreamSystem


@dataclass(frozen=True, slots=True)
class Incarnation:
    """The run that is going on, and how often a driver took it up."""

    run_id: str = ""
    number: int = 0

    def encode(self) -> bytes:
        """As it is recorded."""
        return json.dumps({"run": self.run_id, "incarnation": self.number}).encode()


def decode_incarnation(text: bytes | None) -> Incarnation:
    """What a record says; None where no driver has been."""
    if text is None:
        return Incarnation()
    fields = json.loads(text)
    return Incarnation(str(fields["run"]), int(fields["incarnation"]))


def check_newest(system: StreamSystem, stream: str, number: int) -> None:
    """FencedError when a later incarnation than this one has been recorded."""
    newest = decode_incarnation(system.latest(stream).get(DRIVER_KEY))
    if newest.number > number:
        raise FencedError(f"incarnation {newest.number} has taken over; this is {number}")
