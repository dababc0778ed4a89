"""A bounded data set that comes in versions, each sealed by a record without a key."""

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.lanes.batches.side_input_arrivals import SideInputArrivals
from streamapp_runtime.lanes.protocol.batch_orders import (
    BroadcastOrder,
    LaneOrder,
    ReadRange,
    SidePartition,
    TaskOrder,
)
from streamapp_runtime.lanes.records.record_decoding import RecordDecoder, RequestedRange
from streamapp_runtime.lanes.records.record_reader import read_records
from streamapp_runtime.lanes.task_stores.side_input_specs import SideInputStoreSpec, SideInputStream
from streamapp_runtime.lanes.task_stores.side_input_stores import SideInputStores
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem

NAME = "prices>prices"
COLUMNS = tuple(parse_columns("value BINARY"))


@dataclass
class Versioned:
    """A table of values that is read batch by batch, as much as there is."""

    folder: Path
    kind: StoreKind = StoreKind.LMDB
    partitions: int = 1
    broadcast: bool = False
    sign: str = "nullKey"
    shared: str = ""  # the copy that all lanes were told to read
    batches: int = 0
    system: EmbeddedSystem = field(init=False)
    side_inputs: SideInputStores = field(init=False)

    def __post_init__(self) -> None:
        self.system = EmbeddedSystem(self.folder / "log")
        self.system.create("prices", self.partitions)
        self.read = Read(
            "prices",
            "main",
            "prices",
            StreamRole.SIDE_INPUT,
            "bytes",
            COLUMNS,
            table="prices",
            versions=self.sign,
        )
        self.new_worker()

    def new_worker(self) -> None:
        sides = {NAME: SideInputStream(bootstrap=True)}
        shelf = SideInputStoreSpec(
            "prices", self.kind, "meaning", 10**9, self.broadcast, versions=True, sides=sides
        )
        self.side_inputs = SideInputStores(
            self.folder / "state", "app", "run", {"prices": shelf}, wait_seconds=0.0
        )

    def restarts(self) -> None:
        self.side_inputs.release()
        self.new_worker()

    def write(self, key: str | None, value: str | None, partition: int = 0) -> None:
        keys = pa.array([None if key is None else key.encode()], pa.binary())
        values = pa.array([None if value is None else value.encode()], pa.binary())
        transaction = self.system.begin("tests", 0)
        records = pa.record_batch([keys, values, pa.array([0], pa.int64())], schema=RECORDS)
        transaction.append(TopicPartition("prices", partition), records)
        transaction.commit()

    def mark(self, partition: int = 0) -> None:
        self.write(None, None, partition)

    def settled(self) -> TaskOrder:
        sides = tuple(SidePartition(NAME, index) for index in range(self.partitions))
        return TaskOrder("task-0", 0, "", (), sides)

    def batch(self) -> list[str]:
        """Read on as a driver orders it; what is held then."""
        self.batches += 1
        orders = (BroadcastOrder("prices", True, self.shared, f"1-{self.batches}"),) if self.broadcast else ()
        self.side_inputs.share(orders)
        contained = self.side_inputs.restore(self.settled(), OneSystem(self.system), lambda: None)
        held = self.side_inputs.paused_inputs("task-0")
        ranges = []
        for partition, at in sorted(contained.items()):
            end = self.system.spans([TopicPartition("prices", partition.index)])
            (span,) = end.values()
            if span.end > at and str(partition) not in held:
                ranges.append(ReadRange(NAME, partition.index, at, span.end))
        order = TaskOrder("task-0", 0, "", tuple(ranges), self.settled().side_inputs)
        rows = SideInputArrivals(self.side_inputs, contained={0: dict(contained)})
        decoder = RecordDecoder(self.read, open_format("bytes", COLUMNS))
        for number, found in enumerate(ranges):
            end = None
            for decoded in read_records(decoder, [RequestedRange(found, 0, number)], OneSystem(self.system)):
                if decoded.rows:
                    values = decoded.rows.columns[0]
                    self.side_inputs.fill("task-0", "prices", decoded.rows.key, values)
                end = next((part.end for part in decoded.parts if part.end), end)
            rows.note_range(0, found, end)
        rows.apply(LaneOrder("p", (order,), shared=orders), [0])
        self.shared = rows.published.get("prices", self.shared)
        return self.side_inputs.paused_inputs("task-0")

    def content(self) -> dict[str, str]:
        """What rows see."""
        store = self.side_inputs.store("task-0", "prices")
        return {key.decode(): value.decode() for key, value in store.scan()}

    def get(self, key: str) -> tuple[str | None, int]:
        """What rows see of a key once all there is was read, and of which version."""
        while self.behind():
            self.batch()
        (kept,) = self.side_inputs._open.values()
        assert kept.sealed is not None
        return self.content().get(key), kept.sealed.filling.sealed

    def behind(self) -> bool:
        contained = self.side_inputs.restore(self.settled(), OneSystem(self.system), lambda: None)
        held = self.side_inputs.paused_inputs("task-0")
        spans = self.system.spans([TopicPartition("prices", p.index) for p in contained])
        return any(
            spans[TopicPartition("prices", p.index)].end > at and str(p) not in held
            for p, at in contained.items()
        )

    def close(self) -> None:
        self.side_inputs.release()
        self.system.close()
