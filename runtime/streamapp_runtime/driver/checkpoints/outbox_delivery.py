"""The delivery of outputs into systems that are not the home, exactly once.

Rows for another system go exactly once into an outbox in the home. A delivery reads the outboxes of a system
and writes their records there, in one transaction of that system with the positions up to which they are
delivered. The positions are a checkpoint in a stream of that system, fenced as the checkpoints of an app are.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid4

from streamapp.author.names import delivery_stream
from streamapp.plan.render.wording import counted
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.checkpoint import Checkpoint, StateUnreadableError
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver.checkpoints.checkpoint_stream import (
    DATA_LOSS_HINT,
    DRIVER_WRITER,
    CheckpointStream,
)
from streamapp_runtime.driver.wake_up import WakeUp
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import SystemConnections
from streamapp_runtime.systems.stream_system import (
    FencedError,
    Transaction,
    UnavailableError,
    UnknownStreamError,
)

MOST_RECORDS: Final = 50_000
"""So many records of an outbox are one transaction with those of the others, or one read that has more."""
LOOK_SECONDS: Final = 0.05
"""How often outboxes are looked at in a system that cannot tell of records."""
WAIT_SECONDS: Final = 1.0
"""How long a system that can is waited for, and how long after a failure it is tried again."""
SHRUNK_SECONDS: Final = 10.0
"""How long an outbox may end before what is delivered of it: a new leader may not know its end yet."""
_TASK: Final = "delivery"
_RETRIED: Final = (UnavailableError, UnknownStreamError, OSError)


@dataclass(frozen=True, slots=True)
class DeliveryStatus:
    """The records that wait for delivery into a system, and why they wait."""

    system: str
    waiting: int = 0
    is_full: bool = False  # so many that nothing more is read
    trouble: str = ""  # the last failure, until a delivery goes well

    def __str__(self) -> str:
        records = f"{counted(self.waiting, 'record')} for {self.system}"
        verb = "waits" if self.waiting == 1 else "wait"
        full = "; the outbox is full, and inputs are not read until it is emptied" * self.is_full
        return f"{records} {verb} in the outbox{full}" + (f": {self.trouble}" if self.trouble else "")


@dataclass(slots=True)
class OutboxDelivery:
    """The delivery into one system, with connections of its own; one thread at a time uses it."""

    app: StreamApp
    connections: SystemConnections
    system: str
    wake: WakeUp = field(default_factory=WakeUp)  # ends a wait for records
    looks: int = 0  # at the outboxes, so far
    emptied: int = 0  # the last of them that found nothing to deliver
    clock: Callable[[], float] = time.monotonic
    _status: DeliveryStatus = field(init=False)
    _systems: Systems | None = None
    _ledger: CheckpointStream | None = None
    _spans: Mapping[Partition, OffsetSpan] = field(default_factory=dict)  # of the outboxes
    _positions: Mapping[Partition, int] = field(default_factory=dict)
    _shrunk_since: float | None = None  # since when an outbox ends before what is delivered of it

    def __post_init__(self) -> None:
        self._status = DeliveryStatus(self.system)

    @property
    def status(self) -> DeliveryStatus:
        """The status as of the last attempt, with what one under way waits for; any thread may ask."""
        systems = self._systems
        trouble = systems.trouble() if systems is not None and not self._status.trouble else None
        return replace(self._status, trouble=trouble.text) if trouble else self._status

    def deliver(self) -> bool:
        """Deliver what a transaction takes; whether there was anything. Failures are those of systems."""
        self.looks += 1
        systems = self._opened()
        outboxes = self._outboxes()
        partitions = [
            Partition(outbox, index)
            for outbox in outboxes
            for index in range(systems.partitions(outbox) or 0)
        ]
        self._spans = systems.spans(partitions)
        self._note(self._status.trouble)
        ledger = self._ledger or self._take_over(systems, outboxes)
        starts = self._starts(ledger)
        pending = {one: at for one, at in starts.items() if self._spans[one].end > at}
        if pending:
            self._commit(systems, ledger, outboxes, pending)
        else:
            self.emptied = self.looks
        self._note("")
        return bool(pending)

    def await_records(self) -> None:
        """Return once there may be more to deliver, or somebody says so; after a while in any case."""
        ends = {partition: span.end for partition, span in self._spans.items()}
        if not ends or not self._opened().await_records(ends, WAIT_SECONDS, self.wake):
            self.wake.wait(LOOK_SECONDS)
        self.wake.clear()

    def give_up(self, trouble: str) -> None:
        """Note a failure; the next delivery begins with what the system has of it."""
        self._ledger = None
        with suppress(*_RETRIED):
            if self._systems is not None:
                self._spans = self._systems.spans(self._spans)
        self._note(trouble)

    def close(self) -> None:
        """Let go of everything."""
        if self._systems is not None:
            self._systems.close()
        self._systems = self._ledger = None

    def _opened(self) -> Systems:
        if self._systems is None:
            self._systems = Systems(self.connections)
        return self._systems

    def _outboxes(self) -> dict[str, str]:
        """The outboxes of the streams of this system, with those streams."""
        location = self.connections.location
        pairs = self.connections.outboxes.items()
        return {outbox: stream for stream, outbox in pairs if location(stream).system == self.system}

    def _take_over(self, systems: Systems, outboxes: Iterable[str]) -> CheckpointStream:
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
        self._positions = ledger.positions().get(_TASK, {})
        self._ledger = ledger
        return ledger

    def _starts(self, ledger: CheckpointStream) -> dict[Partition, int]:
        """The first record to deliver of each partition; StateUnreadableError where records are gone."""
        starts = {one: self._positions.get(one, span.oldest) for one, span in self._spans.items()}
        self._await_ends(starts)
        lost = {
            one: at for one, at in starts.items() if not self._spans[one].oldest <= at <= self._spans[one].end
        }
        if lost:
            ledger.check()  # a delivery that has taken over may have cleared what it has delivered
        if lost and self.app.spec.on_data_loss == "fail":
            one, at = min(lost.items())
            span = self._spans[one]
            held = f"holds {span.oldest} to {span.end}, and was delivered up to {at}"
            raise StateUnreadableError(f"{one} {held}: records are lost; {DATA_LOSS_HINT}")
        return starts | {one: self._spans[one].oldest for one in lost}

    def _await_ends(self, starts: Mapping[Partition, int]) -> None:
        """UnavailableError while an end lies before what is delivered, and may not be known yet."""
        shrunk = min((one for one, at in starts.items() if at > self._spans[one].end), default=None)
        if shrunk is None:
            self._shrunk_since = None
            return
        now = self.clock()
        if self._shrunk_since is None:
            self._shrunk_since = now
        if now - self._shrunk_since < SHRUNK_SECONDS:
            raise UnavailableError(f"{shrunk} ends before what is delivered of it; its leader may be new")

    def _commit(
        self,
        systems: Systems,
        ledger: CheckpointStream,
        outboxes: Mapping[str, str],
        starts: Mapping[Partition, int],
    ) -> None:
        written = ledger.checkpoints.get(_TASK)
        expected = {_TASK.encode(): None if written is None else written.encode()}
        target = systems.open(self.system)
        transaction = target.begin(ledger.stream, ledger.incarnation, expected, DRIVER_WRITER)
        try:
            reached = {
                one: self._append(systems, transaction, one, start, outboxes[one.stream])
                for one, start in starts.items()
            }
            positions = {**self._positions, **reached}
            checkpoint = Checkpoint(ledger.run_id, positions=positions).encode()
            transaction.put(ledger.stream, _TASK.encode(), checkpoint)
            crash_point("delivery.before")
            transaction.commit()
            crash_point("delivery.after")
        except BaseException:
            with suppress(*_RETRIED):
                transaction.abort()
            raise
        ledger.checkpoints[_TASK], self._positions = checkpoint.decode(), positions
        systems.delete_before(reached)

    def _append(
        self, systems: Systems, transaction: Transaction, outbox: Partition, start: int, stream: str
    ) -> int:
        """Append the next records of an outbox's partition; where what is delivered ends."""
        end = min(self._spans[outbox].end, start + MOST_RECORDS)
        address = systems.locate(Partition(stream, outbox.index))
        for records in systems.read(outbox, start, end, headers=self._has_headers(stream)):
            transaction.append(address, records.drop_columns(["offset"]))
        return end

    def _has_headers(self, stream: str) -> bool:
        sinks = (operator.send_to for operator in self.app.spec.operators)
        return any(sink is not None and sink.stream == stream and sink.headers is not None for sink in sinks)

    def _note(self, trouble: str) -> None:
        waiting = sum(
            max(0, span.end - self._positions.get(partition, span.oldest))
            for partition, span in self._spans.items()
        )
        is_full = waiting >= self.app.spec.outbox.max_records
        self._status = replace(self._status, waiting=waiting, is_full=is_full, trouble=trouble)


class OutboxDeliveries:
    """The deliveries of an app, one into each system that is not the home and that it writes to."""

    def __init__(self, app: StreamApp, connections: SystemConnections) -> None:
        systems = {connections.location(stream).system for stream in connections.outboxes}
        self._deliveries = [OutboxDelivery(app, connections, system) for system in sorted(systems)]
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self.failure: Exception | None = None  # that trying again does not end

    @property
    def statuses(self) -> tuple[DeliveryStatus, ...]:
        """The deliveries that have something to say: they fail, or are full."""
        statuses = (delivery.status for delivery in self._deliveries)
        return tuple(status for status in statuses if status.trouble or status.is_full)

    @property
    def is_full(self) -> bool:
        """True if so many records wait that no more may come."""
        return any(delivery.status.is_full for delivery in self._deliveries)

    def start(self) -> None:
        """Deliver from now on, each on a thread of its own."""
        for delivery in self._deliveries:
            name = f"streamapp-delivery-{delivery.system}"
            thread = threading.Thread(target=self._serve, args=(delivery,), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def deliver_all(self) -> bool:
        """Deliver everything that there is, on this thread; whether there was anything."""
        before = sum(delivery.looks for delivery in self._deliveries)
        for delivery in self._deliveries:
            while delivery.deliver():
                pass
        return sum(delivery.looks for delivery in self._deliveries) > before + len(self._deliveries)

    def drain(self, is_over: Callable[[], bool], pause: Callable[[float], object]) -> None:
        """Return once everything that there is now is delivered, or it is over, or one fails."""
        before = [delivery.looks for delivery in self._deliveries]
        while (
            self.failure is None
            and not is_over()
            and any(
                delivery.emptied <= looks for delivery, looks in zip(self._deliveries, before, strict=True)
            )
        ):
            for delivery in self._deliveries:
                delivery.wake.set()
            pause(LOOK_SECONDS)

    def close(self) -> None:
        """End, with the transactions that are under way."""
        self._stop.set()
        for delivery in self._deliveries:
            delivery.wake.set()
        for thread in self._threads:
            thread.join()
        for delivery in self._deliveries:
            delivery.close()

    def _serve(self, delivery: OutboxDelivery) -> None:
        while not self._stop.is_set():
            try:
                if not delivery.deliver():
                    delivery.await_records()
            except _RETRIED as error:
                delivery.give_up(str(error))
                self._stop.wait(WAIT_SECONDS)
            except FencedError:
                return  # another driver of the app delivers now, and fences this one's batches too
            except Exception as error:
                self.failure = error
                return
