"""Giving the state of an app up: when a start has to, and what is left beside the checkpoints then.

The streams stay; what an earlier run left in them is never read again.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.stream_system import StreamSystem, UnavailableError

RESET = b"\x00reset"
"""The key of which reset was the last one, and for whom."""
SETTLE_SECONDS = 15.0
_PAUSE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class StateReset:
    """What a start says: so many times the state of this resource was to be given up."""

    nonce: int = 0
    owner: str = ""  # the uid of the resource; empty for a run that is started by hand

    @classmethod
    def of_cluster(cls, accepted: AcceptedApp) -> "StateReset":
        """Of an app that an operator launched."""
        return cls(accepted.app.spec.reset_nonce, accepted.owner)

    @classmethod
    def of_run(cls, app: StreamApp) -> "StateReset":
        """Of a run that somebody started by hand."""
        return cls(app.spec.reset_nonce)

    def due(self, found: Mapping[bytes, bytes]) -> bool:
        """Whether the number was raised since the last start.

        A resource that is made anew takes up what there is, whatever its number: it was not raised.
        """
        if RESET not in found:
            return self.nonce > 0
        last = json.loads(found[RESET])
        return bool(self.owner == last["owner"] and self.nonce > last["nonce"])

    def entry(self, found: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """What there is to write; nothing where it is written."""
        value = json.dumps({"owner": self.owner, "nonce": self.nonce}).encode()
        known = found.get(RESET) == value or (RESET not in found and self == NEVER)
        return {} if known else {RESET: value}


NEVER = StateReset()


def ends_of(
    system: StreamSystem, prefix: str, pause: Callable[[float], None], clock: Callable[[], float]
) -> dict[Partition, int]:
    """Where the streams of an app end, once all that was open in them is void."""
    found = {name: count for name, count in system.streams().items() if name.startswith(prefix)}
    partitions = [Partition(name, index) for name, count in sorted(found.items()) for index in range(count)]
    until = clock() + SETTLE_SECONDS
    while not system.settled(partitions):
        if clock() > until:
            raise UnavailableError(f"{prefix}*: transactions are open for {SETTLE_SECONDS:.0f} s")
        pause(_PAUSE_SECONDS)
    return {partition: span.end for partition, span in system.spans(partitions).items()}
