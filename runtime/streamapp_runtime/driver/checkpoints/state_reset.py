"""Giving the state of an app up: when a start has to, and what is left beside the checkpoints then.

The streams stay; what an earlier run left in them is never read again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.checkpoint_entries import RESET, STATE_SCHEMAS
from streamapp_runtime.systems.stream_system import StreamSystem, UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition

SETTLE_SECONDS = 15.0
_PAUSE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class StateReset:
    """The reset nonce of a resource at a start: so many times its state was to be given up."""

    nonce: int = 0
    owner: str = ""  # the uid of the resource; empty for a run that is started by hand
    forced: bool = field(default=False, compare=False)  # state is given up whatever the number

    @classmethod
    def of_cluster(cls, accepted: AcceptedApp) -> "StateReset":
        """Of an app that an operator launched."""
        return cls(accepted.app.spec.reset_nonce, accepted.owner)

    @classmethod
    def of_run(cls, app: StreamApp, *, fresh: bool = False) -> "StateReset":
        """Of a run that somebody started by hand, to begin as a new app where it is to be `fresh`."""
        return cls(app.spec.reset_nonce, forced=fresh)

    def due(self, values: Mapping[bytes, bytes], stream: str) -> bool:
        """True if the number was raised since the last start, or the state is to be given up in any case.

        A resource that is recreated takes up what there is, whatever its number: it was not raised.
        """
        if self.forced:
            return True
        last = RESET.read(
            values, stream, lambda fields: StateReset(int(fields["nonce"]), str(fields["owner"]))
        )
        if last is None:
            return self.nonce > 0
        return self.owner == last.owner and self.nonce > last.nonce

    def entry(self, values: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """The entry to write; empty where it is already written."""
        value = RESET.encode({"owner": self.owner, "nonce": self.nonce})
        is_written = values.get(RESET.key) == value or (RESET.key not in values and self == NEVER)
        return {} if is_written else {RESET.key: value}


NEVER = StateReset()


@dataclass(frozen=True, slots=True)
class DroppedState:
    """The state that a start has given up, beside all positions."""

    stores: tuple[str, ...]
    forced: bool  # by `--fresh`, not by a raised number

    @classmethod
    def of(cls, values: Mapping[bytes, bytes], stream: str, *, forced: bool) -> "DroppedState":
        """The state of all stores that the values of a checkpoint stream name."""
        return cls(_store_names(values, stream), forced)


def _store_names(values: Mapping[bytes, bytes], stream: str) -> tuple[str, ...]:
    """The names of all stores; none where they cannot be read, since they are given up in any case."""
    try:
        names = STATE_SCHEMAS.read(values, stream, lambda document: list(document["stores"]))
    except StateUnreadableError:
        return ()
    return tuple(sorted({str(name).partition("/")[0] for name in names or ()}))


def ends_of(
    system: StreamSystem, prefix: str, pause: Callable[[float], None], clock: Callable[[], float]
) -> dict[Partition, int]:
    """The end offsets of an app's streams, once all transactions that were open in them are void."""
    counts = {name: count for name, count in system.streams().items() if name.startswith(prefix)}
    partitions = [
        TopicPartition(name, index) for name, count in sorted(counts.items()) for index in range(count)
    ]
    until = clock() + SETTLE_SECONDS
    while system.open_transactions(partitions):
        if clock() > until:
            raise UnavailableError(f"{prefix}*: transactions are open for {SETTLE_SECONDS:.0f} s")
        pause(_PAUSE_SECONDS)
    spans = system.spans(partitions)
    return {Partition(at.topic, at.index): span.end for at, span in spans.items()}
