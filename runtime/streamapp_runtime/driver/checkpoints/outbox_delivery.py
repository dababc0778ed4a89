"""The delivery of outputs into systems that are not the home, exactly once.

Rows for another system go exactly once into an outbox in the home. A delivery reads the outboxes of a system
and writes their records there, in one transaction of that system with the positions up to which they are
delivered. What differs between streams and tables is the target's.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from streamapp.plan.render.wording import counted
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import DATA_LOSS_HINT
from streamapp_runtime.driver.checkpoints.delivery_target import (
    RETRIED,
    DeliveryTarget,
    DeliveryTransaction,
    SinkTarget,
    StreamTarget,
)
from streamapp_runtime.driver.wake_up import WakeUp
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import (
    LakeConnection,
    SinkConnection,
    SystemConnections,
    open_sink,
)
from streamapp_runtime.systems.stream_system import FencedError, UnavailableError, without_empty_headers

MOST_RECORDS: Final = 50_000
"""So many records of an outbox are one transaction with those of the others, or one read that has more."""
LOOK_SECONDS: Final = 0.05
"""How often outboxes are looked at in a system that cannot tell of records."""
WAIT_SECONDS: Final = 1.0
"""How long a system that can is waited for, and how long after a failure it is tried again."""
CLOSE_SECONDS: Final = 30.0
"""How long the end of a transaction is waited for when the deliveries end."""
SHRUNK_SECONDS: Final = 10.0
"""How long an outbox may end before what is delivered of it: a new leader may not know its end yet."""


@dataclass(frozen=True, slots=True)
class DeliveryStatus:
    """The records that wait for delivery into a system, and why they wait."""

    system: str
    waiting: int = 0
    is_full: bool = False  # so many that nothing more is read
    trouble: str = ""  # the last failure, until a delivery goes well
    delivered: int = 0  # records, since the deliveries began
    commits: int = 0  # the transactions of the system by which they were
    failures: int = 0  # after which a delivery was tried again

    @property
    def is_hindered(self) -> bool:
        """True if the delivery fails, or is so far behind that nothing more is read."""
        return bool(self.trouble) or self.is_full

    def __str__(self) -> str:
        records = f"{counted(self.waiting, 'record')} for {self.system}"
        verb = "waits" if self.waiting == 1 else "wait"
        full = "; the outbox is full, and inputs are not read until it is emptied" * self.is_full
        return f"{records} {verb} in the outbox{full}" + (f": {self.trouble}" if self.trouble else "")


def by_system(statuses: Iterable[DeliveryStatus]) -> tuple[DeliveryStatus, ...]:
    """One status for each system: of a lake each table has a delivery of its own."""
    systems: dict[str, DeliveryStatus] = {}
    for status in statuses:
        other = systems.get(status.system)
        systems[status.system] = status if other is None else _together(other, status)
    return tuple(systems.values())


def _together(one: DeliveryStatus, other: DeliveryStatus) -> DeliveryStatus:
    return DeliveryStatus(
        one.system,
        one.waiting + other.waiting,
        one.is_full or other.is_full,
        one.trouble or other.trouble,
        one.delivered + other.delivered,
        one.commits + other.commits,
        one.failures + other.failures,
    )


@dataclass(slots=True)
class OutboxDelivery:
    """The delivery into one system, with connections of its own; one thread at a time uses it."""

    app: StreamApp
    connections: SystemConnections
    system: str
    stream: str | None = None  # the only one, where each table of a system has commits of its own
    wake: WakeUp = field(default_factory=WakeUp)  # ends a wait for records
    looks: int = 0  # at the outboxes, so far
    emptied: int = 0  # the last of them that found nothing to deliver
    clock: Callable[[], float] = time.monotonic
    _status: DeliveryStatus = field(init=False)
    _systems: Systems | None = None
    _target: DeliveryTarget | None = None
    _has_taken_over: bool = False
    _spans: Mapping[Partition, OffsetSpan] = field(default_factory=dict)  # of the outboxes
    is_draining: bool = False  # nothing more comes
    _pending_since: float | None = None  # since when there are records that are not delivered
    _shrunk_since: float | None = None  # since when an outbox ends before what is delivered of it

    def __post_init__(self) -> None:
        self._status = DeliveryStatus(self.system)

    @property
    def is_into_tables(self) -> bool:
        """True if the system is a sink."""
        return isinstance(self.connections.by_name[self.system], SinkConnection)

    @property
    def status(self) -> DeliveryStatus:
        """The status as of the last attempt, with what one under way waits for; any thread may ask."""
        trouble = None
        if not self._status.trouble:
            systems, target = self._systems, self._target
            troubles = (one.trouble() for one in (systems, target) if one is not None)
            trouble = next(filter(None, troubles), None)
        return replace(self._status, trouble=trouble.text) if trouble else self._status

    @property
    def awaits_ends(self) -> bool:
        """True while an outbox ends before what is delivered of it, and its end may not be known yet."""
        return self._shrunk_since is not None

    def deliver(self) -> bool:
        """Deliver what a transaction takes; whether there was anything. Failures are those of systems."""
        self.looks += 1
        systems, outboxes = self._opened(), self._outboxes()
        self._look(systems, outboxes)
        self._note(self._status.trouble)
        target = self._taken_over(systems, outboxes)
        starts = self._starts(target)
        pending = {one: at for one, at in starts.items() if self._spans[one].end > at}
        if pending and not self._is_due(pending):
            return False
        if pending:
            self._commit(systems, target, outboxes, pending)
        else:
            self.emptied = self.looks
        self._note("")
        return bool(pending)

    def _is_due(self, pending: Mapping[Partition, int]) -> bool:
        """True unless rows wait for others to be committed with: each commit of a lake makes files."""
        connection, now = self.connections.by_name[self.system], self.clock()
        seconds = connection.commit_seconds if isinstance(connection, LakeConnection) else 0.0
        if self._pending_since is None:
            self._pending_since = now
        rows = sum(self._spans[one].end - start for one, start in pending.items())
        if rows < MOST_RECORDS and not self.is_draining and now - self._pending_since < seconds:
            return False
        self._pending_since = None
        return True

    def take_over(self) -> None:
        """Fence the delivery before this one, and compare what it has delivered with what there is.

        AppRefusedError where a table is not what it has to be.
        """
        systems, outboxes = self._opened(), self._outboxes()
        self._look(systems, outboxes)
        self._starts(self._taken_over(systems, outboxes))

    def await_records(self) -> None:
        """Return once there may be more to deliver, or somebody says so; after a while in any case."""
        ends = {partition: span.end for partition, span in self._spans.items()}
        if not ends or not self._opened().await_records(ends, WAIT_SECONDS, self.wake):
            self.wake.wait(LOOK_SECONDS)
        self.wake.clear()

    def give_up(self, trouble: str) -> None:
        """Note a failure; the next delivery begins with what the system has of it."""
        self._has_taken_over = False
        self._status = replace(self._status, failures=self._status.failures + 1)
        with suppress(*RETRIED):
            if self._systems is not None:
                self._spans = self._systems.spans(self._spans)
        self._note(trouble)

    def close(self) -> None:
        """Let go of everything."""
        if self._target is not None:
            self._target.close()
        if self._systems is not None:
            self._systems.close()
        self._systems = self._target = None

    def interrupt(self) -> None:
        """End a call that the thread of the delivery waits for."""
        if self._target is not None:
            self._target.interrupt()

    def _opened(self) -> Systems:
        if self._systems is None:
            self._systems = Systems(self.connections)
        return self._systems

    def _look(self, systems: Systems, outboxes: Iterable[str]) -> None:
        self._spans = systems.spans(systems.partitions_of(outboxes))

    def _outboxes(self) -> dict[str, str]:
        """The outboxes of the streams of this system, with those streams."""
        location = self.connections.location
        pairs = self.connections.outboxes.items()
        return {
            outbox: stream
            for stream, outbox in pairs
            if location(stream).system == self.system and self.stream in {None, stream}
        }

    def _taken_over(self, systems: Systems, outboxes: Mapping[str, str]) -> DeliveryTarget:
        """The target, which is this delivery's from now on, and the only one's."""
        target = self._target
        if target is None:
            connection = self.connections.by_name[self.system]
            if isinstance(connection, SinkConnection):
                target = SinkTarget(self.app, open_sink(connection), tuple(outboxes.values()))
                self._refuse_unfit(target)
            else:
                target = StreamTarget(self.app, self.system, systems)
            self._target = target
        if not self._has_taken_over:
            target.take_over(systems, outboxes)
            self._has_taken_over = True
        return target

    def _refuse_unfit(self, target: SinkTarget) -> None:
        """AppRefusedError for tables that cannot take the rows of their streams."""
        try:
            problems = target.problems()
        except BaseException:
            target.close()
            raise
        places = {stream.name: index for index, stream in enumerate(self.app.spec.streams)}
        if refused := [
            Problem(0, 0, f"spec.streams[{places[stream]}].columns", reason)
            for stream, reasons in problems.items()
            for reason in reasons
        ]:
            target.close()
            raise AppRefusedError(refused)

    def _starts(self, target: DeliveryTarget) -> dict[Partition, int]:
        """The first record to deliver of each partition; StateUnreadableError where records are gone."""
        starts = {one: target.positions.get(one, span.oldest) for one, span in self._spans.items()}
        self._await_ends(starts)
        lost = {
            one: at for one, at in starts.items() if not self._spans[one].oldest <= at <= self._spans[one].end
        }
        if not lost:
            return starts
        target.check()  # a delivery that has taken over may have cleared what it has delivered
        one, at = min(lost.items())
        span = self._spans[one]
        held = f"{one} holds {span.oldest} to {span.end}, and was delivered up to {at}"
        ahead = any(at > self._spans[one].end for one, at in lost.items())
        if ahead and not target.forgives_older_state:
            raise StateUnreadableError(
                f"{held}: tables of {self.system} are ahead of the app, whose state is an older copy; "
                "restore the newest, or give the app another applicationId and other tables"
            )
        if self.app.spec.on_data_loss == "fail":
            raise StateUnreadableError(f"{held}: records are lost; {DATA_LOSS_HINT}")
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
        target: DeliveryTarget,
        outboxes: Mapping[str, str],
        starts: Mapping[Partition, int],
    ) -> None:
        transaction, records, reached = target.begin(), 0, {}
        try:
            for one, start in starts.items():
                count, reached[one] = self._append(systems, transaction, one, start, outboxes[one.stream])
                records += count
            crash_point("delivery.before")
            transaction.commit(reached)
            crash_point("delivery.after")
        except BaseException:
            transaction.abort()
            raise
        status = self._status
        self._status = replace(status, delivered=status.delivered + records, commits=status.commits + 1)
        systems.delete_before(reached)

    def _append(
        self, systems: Systems, transaction: DeliveryTransaction, outbox: Partition, start: int, stream: str
    ) -> tuple[int, int]:
        """The number of records of an outbox's partition that were appended, and where these end."""
        end, count = min(self._spans[outbox].end, start + MOST_RECORDS), 0
        for records in systems.read(outbox, start, end, headers=True):
            transaction.append(Partition(stream, outbox.index), without_empty_headers(records))
            count += len(records)
        return count, end

    def _note(self, trouble: str) -> None:
        positions = self._target.positions if self._target is not None else {}
        waiting = sum(
            max(0, span.end - positions.get(partition, span.oldest))
            for partition, span in self._spans.items()
        )
        is_full = waiting >= self.app.spec.outbox.max_records
        self._status = replace(self._status, waiting=waiting, is_full=is_full, trouble=trouble)


def _own_stream(connections: SystemConnections, stream: str) -> str:
    """The stream, where its system commits each table by itself; else empty."""
    return stream if isinstance(connections.of_stream(stream), LakeConnection) else ""


class OutboxDeliveries:
    """The deliveries of an app, one into each system that is not the home and that it writes to."""

    def __init__(self, app: StreamApp, connections: SystemConnections) -> None:
        ends = {
            (connections.location(one).system, _own_stream(connections, one)) for one in connections.outboxes
        }
        self._deliveries = [
            OutboxDelivery(app, connections, system, stream or None) for system, stream in sorted(ends)
        ]
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self.failure: Exception | None = None  # that trying again does not end

    @property
    def statuses(self) -> tuple[DeliveryStatus, ...]:
        """The status of each delivery."""
        return tuple(delivery.status for delivery in self._deliveries)

    @property
    def is_full(self) -> bool:
        """True if so many records wait that no more may come."""
        return any(delivery.status.is_full for delivery in self._deliveries)

    def prepare(self) -> None:
        """Take over tables before anything is added to their outboxes; those of streams are when they can.

        An outbox that has grown since would hide that it ended before what the table has. AppRefusedError
        where a table is not what it has to be, StateUnreadableError where it is ahead of the app.
        """
        for delivery in self._deliveries:
            while delivery.is_into_tables:
                try:
                    delivery.take_over()
                    break
                except UnavailableError:
                    if not delivery.awaits_ends:
                        raise
                    self._stop.wait(WAIT_SECONDS)

    def start(self) -> None:
        """Deliver from now on, each on a thread of its own."""
        for delivery in self._deliveries:
            name = "-".join(filter(None, ("streamapp-delivery", delivery.system, delivery.stream)))
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
        for delivery in self._deliveries:
            delivery.is_draining = True
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
            delivery.interrupt()
        for thread in self._threads:
            thread.join(
                CLOSE_SECONDS
            )  # a server that is cut off answers nobody; the thread ends with the process
        for delivery in self._deliveries:
            delivery.close()

    def _serve(self, delivery: OutboxDelivery) -> None:
        while not self._stop.is_set():
            try:
                if not delivery.deliver():
                    delivery.await_records()
            except RETRIED as error:
                delivery.give_up(str(error))
                self._stop.wait(WAIT_SECONDS)
            except FencedError:
                return  # another driver of the app delivers now, and fences this one's batches too
            except Exception as error:
                self.failure = error
                return
