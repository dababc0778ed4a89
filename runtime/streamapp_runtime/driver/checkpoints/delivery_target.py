"""The two ends that a delivery has: streams of another system, and tables of a sink.

Each keeps what is delivered beside the records themselves, in one transaction with them, and fences the
delivery before this one.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Protocol
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.author.names import delivery_stream
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint, StateUnreadableError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import DRIVER_WRITER, CheckpointStream
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.record_format import RecordFormat
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.sinks.sink import Sink, SinkCommit, SinkTable, TableChange
from streamapp_runtime.systems.sinks.table_changes import table_change
from streamapp_runtime.systems.stream_system import (
    FencedError,
    RecordRefusedError,
    SystemTrouble,
    Transaction,
    UnavailableError,
    UnknownStreamError,
)

RETRIED: Final = (UnavailableError, UnknownStreamError, OSError)
"""The failures of a delivery after which it is tried again."""
_TASK: Final = "delivery"
_INCARNATION: Final = "incarnation"
_HOLDER: Final = "holder"
"""The number by chance of who has that incarnation: of two that take over at once, one is the holder."""


class DeliveryTransaction(Protocol):
    """Records of outboxes that are delivered together, with how far they go, or not at all."""

    def append(self, partition: Partition, records: pa.RecordBatch) -> None:
        """Add records for a partition of a stream of the app."""

    def commit(self, reached: Mapping[Partition, int]) -> None:
        """Deliver them, and note how far each partition of an outbox is delivered."""

    def abort(self) -> None:
        """Drop everything."""


class DeliveryTarget(Protocol):
    """The end of a delivery; one thread at a time uses it."""

    @property
    def forgives_older_state(self) -> bool:
        """True if what is delivered may be more than there is now, where lost records are skipped."""

    def take_over(self, systems: Systems, outboxes: Mapping[str, str]) -> None:
        """Fence the delivery before this one, and read what it has delivered."""

    @property
    def positions(self) -> Mapping[Partition, int]:
        """The position up to which each partition of an outbox is delivered, where one is known."""

    def check(self) -> None:
        """FencedError where another delivery has taken over."""

    def begin(self) -> DeliveryTransaction:
        """Open a transaction, of which there is one at a time."""

    def trouble(self) -> SystemTrouble | None:
        """The trouble that a call waits for; any thread may ask."""

    def interrupt(self) -> None:
        """End a call that another thread waits for, where it would go on for long."""

    def close(self) -> None:
        """Let go of everything."""


@dataclass(slots=True)
class StreamTarget:
    """Streams of another system. The positions are a checkpoint there, fenced as those of an app are."""

    app: StreamApp
    system: str
    systems: Systems
    positions: Mapping[Partition, int] = field(default_factory=dict)
    ledger: CheckpointStream = field(init=False)

    @property
    def forgives_older_state(self) -> bool:
        """True: who reads the stream may get records once more."""
        return True

    def take_over(self, systems: Systems, outboxes: Mapping[str, str]) -> None:
        """Fence the delivery before this one, and read what it has delivered.

        Nothing of an outbox that was made again since is delivered yet.
        """
        ledger = CheckpointStream(systems.open(self.system), delivery_stream(self.app.application_id))
        ledger.open(uuid4().hex)
        identities = systems.identities(list(outboxes))
        if recreated := ledger.recreated_topics(identities):
            known = [p for read in ledger.positions().values() for p in read if p.stream in recreated]
            ledger.forget(known, identities=identities)
        else:
            ledger.recognise(identities)
        self.positions, self.ledger = ledger.positions().get(_TASK, {}), ledger

    def check(self) -> None:
        """FencedError where another delivery has taken over."""
        self.ledger.check()

    def begin(self) -> "StreamTransaction":
        """Open a transaction of that system."""
        ledger = self.ledger
        written = ledger.checkpoints.get(_TASK)
        expected = {_TASK.encode(): None if written is None else written.encode()}
        system = self.systems.open(self.system)
        return StreamTransaction(
            self, system.begin(ledger.stream, ledger.incarnation, expected, DRIVER_WRITER)
        )

    def trouble(self) -> SystemTrouble | None:
        """The trouble of the system, which all systems of the process tell together."""
        return self.systems.trouble()

    def interrupt(self) -> None:
        """Nothing: calls of these systems end by themselves."""

    def close(self) -> None:
        """Nothing: the systems are closed by who opened them."""


@dataclass(slots=True)
class StreamTransaction:
    """A transaction of the other system, with the checkpoint of the delivery."""

    target: StreamTarget
    transaction: Transaction

    def append(self, partition: Partition, records: pa.RecordBatch) -> None:
        """Add records for a partition of a stream."""
        self.transaction.append(self.target.systems.locate(partition), records.drop_columns(["offset"]))

    def commit(self, reached: Mapping[Partition, int]) -> None:
        """Deliver them, and write the checkpoint."""
        ledger, positions = self.target.ledger, {**self.target.positions, **reached}
        checkpoint = Checkpoint(ledger.run_id, positions=positions).encode()
        self.transaction.put(ledger.stream, _TASK.encode(), checkpoint)
        self.transaction.commit()
        ledger.checkpoints[_TASK], self.target.positions = checkpoint.decode(), positions

    def abort(self) -> None:
        """Drop everything."""
        with suppress(*RETRIED):
            self.transaction.abort()


@dataclass(slots=True)
class SinkTarget:
    """Tables of a sink. The positions are numbers there, with an incarnation and what outboxes they are of.

    A sink that is ahead of the outbox is refused. There an older copy of the app's state was restored, and
    the outbox gets other rows in the place of those that the table has.
    """

    app: StreamApp
    sink: Sink
    streams: tuple[str, ...]
    positions: Mapping[Partition, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)  # as they were committed last
    tables: dict[str, SinkTable] = field(init=False)
    formats: dict[str, RecordFormat] = field(init=False)

    def __post_init__(self) -> None:
        self.tables = {name: sink_table(self.app, name) for name in self.streams}
        self.formats = {
            name: open_format(self.app.spec.stream(name).format, table.columns)
            for name, table in self.tables.items()
        }

    @property
    def owner(self) -> str:
        """The name that the numbers go by."""
        return delivery_stream(self.app.application_id)

    @property
    def forgives_older_state(self) -> bool:
        """False: rows of a table would be there twice, or in two versions."""
        return False

    def take_over(self, systems: Systems, outboxes: Mapping[str, str]) -> None:
        """Fence the delivery before this one, and read what it has delivered."""
        partitions = systems.partitions_of(outboxes)
        identities = {
            name: _identity_number(identity) for name, identity in systems.identities(list(outboxes)).items()
        }
        names = [_INCARNATION, _HOLDER, *identities, *map(str, partitions)]
        numbers = self.sink.numbers(self.owner, names)
        for outbox, identity in identities.items():
            if numbers.get(outbox, identity) != identity:
                table = self.tables[outboxes[outbox]].name
                raise StateUnreadableError(
                    f'the table "{table}" has rows of another outbox {outbox} than there is now: the state '
                    "of the app was deleted or restored since; restore the newest, or have the table filled "
                    f"from the outbox of now: {self.sink.forgetting(self.owner)}"
                )
        held = {_INCARNATION: numbers.get(_INCARNATION), _HOLDER: numbers.get(_HOLDER)}
        taken = {_INCARNATION: numbers.get(_INCARNATION, 0) + 1, _HOLDER: uuid4().int >> 65, **identities}
        self.sink.commit(SinkCommit(self.owner, held, taken))
        # Who was fenced by that may have committed between the first look and it.
        self.numbers = self.sink.numbers(self.owner, names)
        self.positions = {one: self.numbers[str(one)] for one in partitions if str(one) in self.numbers}
        if self.numbers.get(_HOLDER) != taken[_HOLDER]:
            raise FencedError(f'another delivery of "{self.owner}" has taken over')

    def check(self) -> None:
        """FencedError where another delivery has taken over."""
        expected = {name: self.numbers[name] for name in (_INCARNATION, _HOLDER)}
        SinkCommit(self.owner, expected, {}).compare(self.sink.numbers(self.owner, expected))

    def begin(self) -> "SinkTransaction":
        """Gather rows for a transaction of the sink."""
        return SinkTransaction(self)

    def problems(self) -> Mapping[str, tuple[str, ...]]:
        """Why tables cannot take the rows of their streams, by stream; what is missing may be created."""
        return {name: self.sink.prepare(table) for name, table in self.tables.items()}

    def trouble(self) -> SystemTrouble | None:
        """The trouble that a call waits for."""
        return self.sink.trouble()

    def interrupt(self) -> None:
        """End a call that another thread waits for."""
        self.sink.interrupt()

    def close(self) -> None:
        """Let go of the sink."""
        self.sink.close()


@dataclass(slots=True)
class SinkTransaction:
    """Rows that are gathered, and written with their positions."""

    target: SinkTarget
    records: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)  # by stream

    def append(self, partition: Partition, records: pa.RecordBatch) -> None:
        """Add records for a stream."""
        self.records.setdefault(partition.stream, []).append(records)

    def commit(self, reached: Mapping[Partition, int]) -> None:
        """Write all rows with the numbers, where those of before are the ones that are known here."""
        target = self.target
        positions = {str(partition): position for partition, position in reached.items()}
        numbers = {name: target.numbers[name] for name in (_INCARNATION, _HOLDER)} | positions
        expected = {name: target.numbers.get(name) for name in numbers}
        changes = tuple(
            change_by_records(target.tables[stream], target.formats[stream], pa.Table.from_batches(batches))
            for stream, batches in self.records.items()
        )
        target.sink.commit(SinkCommit(target.owner, expected, numbers, changes))
        target.numbers |= numbers
        target.positions = {**target.positions, **reached}

    def abort(self) -> None:
        """Drop everything."""
        self.records.clear()


def change_by_records(table: SinkTable, record_format: RecordFormat, records: pa.Table) -> TableChange:
    """The change that records of a stream make in its table; RecordRefusedError where one does not fit."""
    keys, values = (records.column(name).combine_chunks() for name in ("key", "value"))
    decoded = record_format.decode(values)
    if decoded.bad:
        reason = f"a row that waits for it was written with other columns: {decoded.bad[0].reason}"
        raise RecordRefusedError(
            f'table "{table.name}": {reason}; name columns that fit, or run the app as before'
        )
    return table_change(table, decoded.columns, keys, pc.is_null(values))


def sink_table(app: StreamApp, name: str) -> SinkTable:
    """The table that a stream of a sink is."""
    stream = app.spec.stream(name)
    columns = parse_columns(stream.columns or "")
    return SinkTable(stream.topic or name, columns, arrow_schema(columns), stream.primary_key, stream.key)


def _identity_number(identity: str) -> int:
    """A number for the identity of an outbox: 63 bits of a hash, which every sink can hold."""
    return int.from_bytes(sha256(identity.encode()).digest()[:8], "big") >> 1
