"""The rules that keep results exact, each as the one function without which the product lacks it."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from streamapp_runtime.driver.batches.backlog import Backlog
from streamapp_runtime.driver.batches.lane_supervisor import LaneSupervisor
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.executors import lane_server
from streamapp_runtime.driver.executors.lane_server import LaneReport, LaneServer
from streamapp_runtime.incarnation import Incarnation
from streamapp_runtime.lanes.batches import lane_worker
from streamapp_runtime.lanes.protocol import order_codec
from streamapp_runtime.lanes.task_stores import lane_stores
from streamapp_runtime.systems.embedded import embedded_transaction, latest_index
from streamapp_runtime.systems.embedded.embedded_transaction import EmbeddedTransaction
from streamapp_runtime.systems.topic_partition import TopicPartition


class EveryBatch(int):
    """The number of a batch that passes for any other."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, int)

    __hash__ = int.__hash__


def without_fence(patch: pytest.MonkeyPatch) -> None:
    """Lanes of any incarnation commit."""
    patch.setattr(embedded_transaction, "fenced_with", lambda txn, owner: 0)


def without_comparison(patch: pytest.MonkeyPatch) -> None:
    """A commit compares no checkpoint with the newest one."""
    patch.setattr(latest_index, "differing_key", lambda txn, stream, expected: None)


def without_fence_after_failure(patch: pytest.MonkeyPatch) -> None:
    """After a failure lanes are bound under the same incarnation."""
    fail = LaneSupervisor.fail
    patch.setattr(LaneSupervisor, "fail", lambda self, *, fence: fail(self, fence=False))


def without_fence_of_lost_lanes(patch: pytest.MonkeyPatch) -> None:
    """Where lanes are lost alone, checkpoints are read, and nothing is fenced."""
    raise_incarnation = CheckpointStream.raise_incarnation
    fence = LaneSupervisor.fence

    def fence_unless_parted(self: LaneSupervisor) -> None:
        if self.open:
            patch.setattr(CheckpointStream, "raise_incarnation", CheckpointStream._read)
        fence(self)
        patch.setattr(CheckpointStream, "raise_incarnation", raise_incarnation)

    patch.setattr(LaneSupervisor, "fence", fence_unless_parted)


def without_reading_after_fence(patch: pytest.MonkeyPatch) -> None:
    """A driver that has fenced goes on from what it believes."""

    def raise_incarnation(self: CheckpointStream) -> None:
        self._interrupt()
        self._begin(Incarnation(self.run_id, self.incarnation + 1))

    patch.setattr(CheckpointStream, "raise_incarnation", raise_incarnation)


def without_numbers_of_reports(patch: pytest.MonkeyPatch) -> None:
    """A report of any batch is taken for one of the present batch."""
    next_event = LaneServer.next_event

    def any_batch(self: LaneServer, seconds: float | None = None) -> Any:
        event = next_event(self, seconds)
        return replace(event, batch=EveryBatch(event.batch)) if isinstance(event, LaneReport) else event

    patch.setattr(LaneServer, "next_event", any_batch)


def without_bindings(patch: pytest.MonkeyPatch) -> None:
    """Lanes of every binding are given orders, and are heard."""
    patch.setattr(LaneServer, "_is_current", lambda self, peer: True)


def without_digest(patch: pytest.MonkeyPatch) -> None:
    """A lane does not compare its checkpoints with those that the driver believes."""
    patch.setattr(order_codec, "_digest", lambda lane: "")


def without_attempts(patch: pytest.MonkeyPatch) -> None:
    """All attempts have one name."""
    patch.setattr(lane_worker, "attempt_name", lambda incarnation, batch, attempt: f"{incarnation}.0.0")


def without_restoring(patch: pytest.MonkeyPatch) -> None:
    """A store is taken as it is."""
    restore = lane_stores.RestoreProgress()
    patch.setattr(lane_stores, "_restore", lambda *_: restore)


def without_looks_for_a_successor(patch: pytest.MonkeyPatch) -> None:
    """A driver does not look whether another has taken over."""
    patch.setattr(Loop, "_look_for_successor", lambda self: None)


def without_numbers_of_orders(patch: pytest.MonkeyPatch) -> None:
    """A lane is given the order that is there, whether it has served it or not."""
    ask = lane_server._Ask
    patch.setattr(lane_server, "_Ask", lambda peer, after: ask(peer, -1))


def without_one_transaction(patch: pytest.MonkeyPatch) -> None:
    """What a lane writes is there before its checkpoints."""
    append = EmbeddedTransaction.append

    def at_once(self: EmbeddedTransaction, partition: TopicPartition, records: pa.RecordBatch) -> None:
        claim = replace(self._claim, expected=None)
        first = EmbeddedTransaction(self._environment, claim, self._now_ms, None, self._after_commit)
        append(first, partition, records)
        first.commit()

    patch.setattr(EmbeddedTransaction, "append", at_once)


def without_waiting_for_readers(patch: pytest.MonkeyPatch) -> None:
    """Records of the app's own streams go once they are there."""

    def forget(self: Backlog) -> None:
        spans = self._look([p for parts in self.launch.partitions.values() for p in parts])
        inner = {p: span.end for p, span in spans.items() if p.stream in self.launch.read_order.priority}
        self.systems.delete_before(inner)

    patch.setattr(Backlog, "forget_read", forget)
