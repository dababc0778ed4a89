"""A task with a table and its changelog, as a driver and a worker have them."""

import time
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.lanes.protocol.batch_orders import TaskOrder
from streamapp_runtime.lanes.task_stores.lane_stores import LaneStores, RestoreProgress
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.stores.store import StoreKind, StoreMark
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem

STREAM = "app.users.changelog"


PLACE = TopicPartition(STREAM, 0)


@dataclass
class ChangelogTask:
    """One task with one table, as its driver knows it, and the worker that serves it."""

    folder: Path
    kind: StoreKind
    system: EmbeddedSystem
    lane_stores: LaneStores = field(init=False)
    checkpoint: Checkpoint = field(default_factory=lambda: Checkpoint("run"))
    batches: int = 0

    def __post_init__(self) -> None:
        self.new_worker()

    def new_worker(self, begin: int = 0) -> None:
        shelf = StoreSpec("users", self.kind, "schema", STREAM)
        self.lane_stores = LaneStores(self.folder, "app", "run", {"users": shelf}, begins={PLACE: begin})

    @property
    def order(self) -> TaskOrder:
        return TaskOrder("task-0", 0, self.checkpoint.encode().decode())

    def settle(self, seconds: float = 60.0) -> RestoreProgress:
        return self.lane_stores.restore(
            self.order, OneSystem(self.system), time.monotonic() + seconds, not_replaced
        )

    def write(self, **entries: str | None) -> None:
        """Writes of a batch as they are before its commit: pending."""
        self.batches += 1
        attempt = f"1.{self.batches}.0"
        self.lane_stores.store("task-0", "users").put(*_columns(entries))
        self.lane_stores.note_pending("task-0", "users", attempt)

    def commit(self, **entries: str | None) -> None:
        """What the last layer does with the same writes."""
        keys, values = _columns(entries)
        time_ms = pa.array([0] * len(keys), pa.int64())
        transaction = self.system.begin("app.checkpoint", 1)
        transaction.append(PLACE, pa.record_batch([keys, values, time_ms], schema=RECORDS))
        end = transaction.commit()[PLACE]
        self.checkpoint = Checkpoint("run", f"1.{self.batches}.0", {}, {"users": end})

    def batch(self, **entries: str | None) -> None:
        self.write(**entries)
        self.commit(**entries)

    def content(self) -> dict[str, str]:
        store = self.lane_stores.store("task-0", "users")
        return {key.decode(): value.decode() for key, value in store.scan()}

    def mark(self) -> StoreMark:
        found = self.lane_stores.store("task-0", "users").mark
        assert found is not None
        return found


def _columns(entries: dict[str, str | None]) -> tuple[pa.Array, pa.Array]:
    keys = pa.array([key.encode() for key in entries], pa.binary())
    values = [None if value is None else value.encode() for value in entries.values()]
    return keys, pa.array(values, pa.binary())


def not_replaced() -> None:
    """This worker has not been replaced."""
