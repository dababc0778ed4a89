"""What is in outboxes comes into another system once, whatever is killed, fenced or made again."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.driver.checkpoints import outbox_delivery
from streamapp_runtime.driver.checkpoints.outbox_delivery import SHRUNK_SECONDS, OutboxDelivery
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS, FencedError, StreamOptions, UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.core.app_resources import app_resource

OUTBOX, WRITER = "orders.out.outbox", "tests"


class _KilledError(Exception):
    pass


class Outbox:
    """The outbox of one stream of two partitions, and the stream in another log."""

    def __init__(self, folder: Path, **spec: Any) -> None:
        self.app = _app(**spec)
        self.connections = embedded_storage(folder, self.app).systems
        self.systems = Systems(self.connections)
        self.systems.create("out", 2)
        self.systems.create(OUTBOX, 2, StreamOptions(engine_owned=True))
        self.written = [0, 0]

    def write(self, records: int) -> None:
        """Records into both partitions, numbered one after the other."""
        transaction = self.systems.home.begin(WRITER, 0)
        for index in range(2):
            first = self.written[index]
            self.written[index] += records
            keys = pa.array([b"%d" % index] * records, pa.binary())
            values = pa.array([b"%d" % n for n in range(first, first + records)], pa.binary())
            batch = pa.record_batch([keys, values, pa.array([7] * records, pa.int64())], schema=RECORDS)
            transaction.append(self.systems.at_home(Partition("out", index)), batch)
        transaction.commit()

    def delivery(self) -> OutboxDelivery:
        return OutboxDelivery(self.app, self.connections, "other")

    def delivered(self) -> list[list[int]]:
        spans = self.systems.spans([Partition("out", index) for index in range(2)])
        return [
            [
                int(value)
                for batch in self.systems.read(at, 0, span.end)
                for value in batch["value"].to_pylist()
            ]
            for at, span in spans.items()
        ]

    def is_exact(self) -> bool:
        return self.delivered() == [list(range(count)) for count in self.written]


def _app(**spec: Any) -> StreamApp:
    resource = app_resource(
        [{"name": "send", "sendTo": {"from": "in", "stream": "out"}}],
        [{"name": "in", "columns": "n INT"}, {"name": "out", "system": "other"}],
        applicationId="orders",
        systems=[{"name": name, "embedded": {"path": name}} for name in ("main", "other")],
        **spec,
    )
    parsed = parse_data(resource)
    assert not parsed.problems
    return parsed.apps[0]


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    made = Outbox(tmp_path)
    yield made
    made.systems.close()


def _all(delivery: OutboxDelivery) -> None:
    while delivery.deliver():
        pass


@pytest.mark.parametrize("points", [["before"], ["after"], ["before", "after", "after", "before"]])
def test_a_delivery_that_is_killed_around_its_commit_is_gone_on_with_exactly(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch, points: Sequence[str]
) -> None:
    monkeypatch.setattr(outbox_delivery, "MOST_RECORDS", 3)
    for point in points:
        outbox.write(5)

        def die(name: str, point: str = point) -> None:
            if name == f"delivery.{point}":
                raise _KilledError

        monkeypatch.setattr(outbox_delivery, "crash_point", die)
        with pytest.raises(_KilledError):
            _all(outbox.delivery())
    monkeypatch.setattr(outbox_delivery, "crash_point", lambda _: None)
    _all(outbox.delivery())
    assert outbox.is_exact()


def test_a_commit_whose_end_is_not_known_is_looked_up_and_not_repeated(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery = outbox.delivery()
    outbox.write(2)
    monkeypatch.setattr(outbox_delivery, "crash_point", _away_after_commit)
    with pytest.raises(OSError, match="away"):
        delivery.deliver()
    monkeypatch.setattr(outbox_delivery, "crash_point", lambda _: None)
    delivery.give_up("away")
    assert delivery.status.trouble == "away"
    _all(delivery)
    assert (outbox.is_exact(), delivery.status.trouble, delivery.status.waiting) == (True, "", 0)


def _away_after_commit(point: str) -> None:
    if point == "delivery.after":
        raise OSError("away")


def test_of_two_deliveries_the_older_one_writes_nothing_more(outbox: Outbox) -> None:
    older, newer = outbox.delivery(), outbox.delivery()
    outbox.write(1)
    _all(older)
    outbox.write(1)
    _all(newer)
    outbox.write(1)
    with pytest.raises(FencedError):
        older.deliver()
    _all(newer)
    assert outbox.is_exact()


def test_delivered_records_leave_the_outbox_and_waiting_ones_fill_it(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path, outbox={"maxRecords": 4})
    delivery = outbox.delivery()
    outbox.write(2)
    delivery.deliver()
    assert (delivery.status.waiting, delivery.status.is_full) == (0, False)
    span = outbox.systems.spans([Partition(OUTBOX, 0)])[Partition(OUTBOX, 0)]
    assert span.oldest == span.end == 2
    outbox.write(2)
    delivery.give_up("away")
    assert (delivery.status.waiting, delivery.status.is_full) == (4, True)
    assert str(delivery.status) == (
        "4 records for other wait in the outbox; the outbox is full, and inputs are not read until it is "
        "emptied: away"
    )
    outbox.systems.close()


def test_an_outbox_that_was_made_again_is_delivered_from_its_beginning(outbox: Outbox) -> None:
    outbox.write(3)
    _all(outbox.delivery())
    assert isinstance(outbox.systems.home, EmbeddedSystem)
    outbox.systems.home.delete(OUTBOX)
    outbox.systems.create(OUTBOX, 2, StreamOptions(engine_owned=True))
    outbox.write(2)
    _all(outbox.delivery())
    assert outbox.is_exact()


def test_an_end_that_a_new_leader_does_not_know_yet_is_waited_for(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery, seconds = outbox.delivery(), [0.0]
    delivery.clock = lambda: seconds[0]
    outbox.write(3)
    _all(delivery)
    with monkeypatch.context() as behind:
        behind.setattr(Systems, "spans", lambda _, partitions: {one: OffsetSpan(0, 1) for one in partitions})
        for seconds[0] in (0.0, SHRUNK_SECONDS - 1):
            with pytest.raises(UnavailableError, match=r"out\.outbox#0 ends before what is delivered of it"):
                delivery.deliver()
        seconds[0] = SHRUNK_SECONDS
        with pytest.raises(StateUnreadableError, match="holds 0 to 1, and was delivered up to 3"):
            delivery.deliver()
    outbox.write(1)
    _all(delivery)
    assert outbox.is_exact()


@pytest.mark.parametrize("goes_on", [False, True])
def test_records_that_went_before_they_were_delivered_are_a_loss(tmp_path: Path, goes_on: bool) -> None:
    outbox = Outbox(tmp_path, onDataLoss="earliest" if goes_on else "fail")
    outbox.write(1)
    _all(outbox.delivery())
    outbox.write(3)
    outbox.systems.home.delete_before({TopicPartition(OUTBOX, 0): 3})
    if goes_on:
        _all(outbox.delivery())
        assert outbox.delivered() == [[0, 3], [0, 1, 2, 3]]
    else:
        with pytest.raises(
            StateUnreadableError, match=r"out\.outbox#0 holds 3 to 4, and was delivered up to 1"
        ):
            outbox.delivery().deliver()
    outbox.systems.close()
