"""Whatever becomes of a topic, each of its partitions that has records is read in the end, or named."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem
from tests.harness.runs.app_runs import app, inputs, write_all
from tests.harness.runs.in_process_run import InProcessRun

USERS = [{"user": f"u{number}"} for number in range(24)]
SETTLE_SECONDS = 60
IN_THE_END = 4 * SETTLE_SECONDS
TICK_SECONDS = 20

Action = tuple[str, int]
write = st.tuples(st.just("write"), st.integers(1, 3 * len(USERS)))
grow = st.tuples(st.just("grow"), st.integers(1, 2))
wait = st.tuples(st.just("wait"), st.sampled_from([6, 2 * SETTLE_SECONDS]))
recreate = st.tuples(st.just("recreate"), st.integers(0, 3))
expire = st.tuples(st.just("expire"), st.integers(0, 15))
restart = st.tuples(st.just("restart"), st.just(0))
actions = st.tuples(
    write, grow, wait, st.lists(st.one_of(recreate, expire, restart, grow, write, wait), max_size=5)
).map(lambda parts: [*parts[:3], *parts[3]])


class History:
    """An app that counts by user, and what happens to its stream."""

    def __init__(self, folder: Path, on_data_loss: str) -> None:
        counted = {"name": "counted", "aggregate": {"from": "views", "aggregates": "count(*) AS n"}}
        sent = {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}}
        streams = [{"name": "views", "key": "user", "columns": "user STRING"}, {"name": "out"}]
        resource = app(
            *(counted, sent),
            streams=streams,
            onDataLoss=on_data_loss,
            partitionSettle=f"{SETTLE_SECONDS}s",
        )
        self.run = InProcessRun(resource, folder)
        self.run.system.create("views", 2)
        self.run.start()

    @property
    def count(self) -> int:
        return self.run.system.partitions("views") or 0

    def act(self, action: str, number: int) -> None:
        system = self.run.system
        match action:
            case "write":
                rows = [USERS[row % len(USERS)] for row in range(number)]
                write_all(system, "views", inputs(rows, "user"), self.count)
            case "grow":
                system.grow("views", min(self.count * 2**number, 16))
            case "recreate":
                count = self.count
                system.delete("views")
                system.create("views", 2 * 2**number if number else count)
            case "expire":
                self.run.end()
                write_all(system, "views", inputs(USERS, "user"), self.count)
                spans = system.spans(
                    TopicPartition("views", index) for index in range(number % self.count + 1)
                )
                system.delete_before({partition: span.end for partition, span in spans.items()})
                self.run.start()
            case "restart":
                self.run.start()
        self.run.take_up_growth()
        self.run.advance(number if action == "wait" else 0)

    def unread(self) -> set[Partition]:
        """The partitions with records that no task is past, and that are not named."""
        partitions = [Partition("views", index) for index in range(self.count)]
        spans, ledger = OneSystem(self.run.system).spans(partitions), self.run.loop.ledger
        reached = {p: at for read in ledger.positions().values() for p, at in read.items()}
        named = {one.partition for one in self.run.loop.backlog.unread.lasting}
        return {
            p
            for p in partitions
            if spans[p].end > spans[p].oldest and reached.get(p, 0) != spans[p].end and p not in named
        }


def is_read_or_named(on_data_loss: str, history: Sequence[Action]) -> None:
    with TemporaryDirectory() as folder:
        app_history = History(Path(folder), on_data_loss)
        try:
            for action, number in history:
                app_history.act(action, number)
            for _ in range(IN_THE_END // TICK_SECONDS):
                app_history.act("wait", TICK_SECONDS)
            assert app_history.unread() == set()
        except (AppRefusedError, FinalFailureError) as ended:
            assert "views" in str(ended) or "spec.streams[0]" in str(ended)
        finally:
            app_history.run.end()
            app_history.run.system.close()


@settings(max_examples=10, deadline=None, derandomize=True, database=None)
@example("earliest", [("write", 72), ("grow", 2), ("wait", 120), ("recreate", 0), ("write", 20)])
@given(st.sampled_from(["earliest", "earliest", "fail"]), actions)
def test_every_partition_with_records_is_read_or_named(on_data_loss: str, history: list[Action]) -> None:
    is_read_or_named(on_data_loss, history)


@pytest.mark.long
@settings(max_examples=500, deadline=None)
@given(st.sampled_from(["earliest", "earliest", "fail"]), actions)
def test_so_it_is_in_many_histories(on_data_loss: str, history: list[Action]) -> None:
    is_read_or_named(on_data_loss, history)
