"""Lanes that do not wait for each other: one that takes long, or is lost, stops no other."""

import os
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import shake_256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.stores.directories.state_directory import state_directory
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.machine.app_processes import kill
from tests.harness.machine.processes import parent_of, until
from tests.harness.runs.app_runs import Row, app, inputs, read_all, write_all
from tests.harness.runs.changing_run import Outside

CODE = "tests.harness.user_code.graph_code"
PARTITIONS = 2
USERS = 8


@dataclass(slots=True)
class TwoLanes:
    """An app on two processors, each with a task of its own, and what it has written."""

    system: EmbeddedSystem
    run: Outside

    def send(self, user: str, numbers: range, hold: Path | None = None) -> None:
        rows: list[Row] = [{"user": user, "n": n, "hold": str(hold) if hold else None} for n in numbers]
        write_all(self.system, "events", inputs(rows, "user"), PARTITIONS)

    def rows(self, user: str) -> list[Row]:
        return self.rows_of([user])

    def rows_of(self, users: Collection[str]) -> list[Row]:
        wanted = set(users)
        return [record.value for record in read_all(self.system, "out") if record.value["user"] in wanted]

    def until_written(self, user: str, count: int) -> list[Row]:
        self.run.until_so(lambda: len(self.rows(user)) >= count)
        return self.rows(user)

    def users_of_two_lanes(self) -> tuple[str, str]:
        """A user of each lane."""
        for number in range(USERS):
            self.send(f"u{number}", range(1))
        workers = {f"u{number}": self.until_written(f"u{number}", 1)[0]["worker"] for number in range(USERS)}
        other = next(user for user, worker in workers.items() if worker != workers["u0"])
        return "u0", other


STREAMS = [{"name": "events", "key": "user", "columns": "user STRING, n INT, hold STRING"}, {"name": "out"}]
MAPPED = {"from": "events", "python": f"{CODE}:held", "columns": "user STRING, n INT, worker INT"}


@contextmanager
def two_lanes(
    folder: Path, *operators: dict[str, Any], streams: Sequence[dict[str, Any]] = STREAMS, **fields: Any
) -> Iterator[TwoLanes]:
    """The app with these operators; it ends when it is asked to."""
    system = EmbeddedSystem(folder / "data")
    for stream in streams:
        system.create(stream["name"], PARTITIONS)
    batch = {"independentLanes": True}
    made = app(*operators, streams=streams, processors=2, rebalanceDelay="300s", batch=batch, **fields)
    run = Outside.start(folder, made, processors=2)
    try:
        yield TwoLanes(system, run)
        assert run.end() == 0
    finally:
        run.close()
        system.close()


@pytest.fixture
def lanes(tmp_path: Path) -> Iterator[TwoLanes]:
    sent = {"from": "mapped", "stream": "out"}
    with two_lanes(tmp_path, {"name": "mapped", "map": MAPPED}, {"name": "sent", "sendTo": sent}) as running:
        yield running


@pytest.mark.usefixtures("process")
def test_rows_of_other_lanes_are_written_while_one_lane_is_at_work(lanes: TwoLanes, tmp_path: Path) -> None:
    slow, other = lanes.users_of_two_lanes()
    hold = tmp_path / "row.hold"
    hold.touch()
    lanes.send(slow, range(1, 2), hold)
    until(hold.with_suffix(".seen").exists, limit=60)
    for n in range(1, 6):
        lanes.send(other, range(n, n + 1))
        lanes.until_written(other, n + 1)
    assert len(lanes.rows(slow)) == 1
    hold.unlink()
    lanes.send(slow, range(2, 4))
    assert [row["n"] for row in lanes.until_written(slow, 4)] == [0, 1, 2, 3]
    assert [row["n"] for row in lanes.rows(other)] == list(range(6))


@pytest.mark.smoke
@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("victim", [pytest.param("worker", marks=pytest.mark.nightly), "executor"])
def test_a_lane_that_is_lost_comes_back_and_the_other_keeps_its_worker(
    lanes: TwoLanes, tmp_path: Path, victim: str
) -> None:
    lost, other = lanes.users_of_two_lanes()
    worker, kept = lanes.rows(lost)[0]["worker"], lanes.rows(other)[0]["worker"]
    hold = tmp_path / "row.hold"
    hold.touch()
    lanes.send(lost, range(1, 3), hold)
    until(hold.with_suffix(".seen").exists, limit=60)
    kill(worker if victim == "worker" else executor_of(worker))
    lanes.send(other, range(1, 3))
    others = lanes.until_written(other, 3)
    hold.unlink()
    comes_back = lanes.until_written(lost, 3)
    assert [row["n"] for row in comes_back] == [0, 1, 2]
    assert worker not in {row["worker"] for row in comes_back[1:]}
    assert [(row["n"], row["worker"]) for row in others] == [(n, kept) for n in range(3)]
    assert [said for said in lanes.run.said if said.get("event") == "trouble"]


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("store", ["rocksdb", "lmdb"])
def test_a_lane_that_takes_long_still_reads_the_copy_of_a_table_that_others_have_left(
    tmp_path: Path, store: str
) -> None:
    names = [f"u{n}" for n in range(USERS)]
    places = partition_of(pa.array(names).cast(pa.binary()), PARTITIONS)
    filling, slow = (next(u for u, at in zip(names, places, strict=True) if at == lane) for lane in (0, 1))
    looked_up = {
        "from": "mapped",
        "table": "rounds",
        "key": "user",
        "type": "left",
        "select": "user, n, round",
    }
    side = {"name": "users", "key": "user", "columns": "user STRING, round INT"}
    with two_lanes(
        tmp_path,
        {"name": "mapped", "map": MAPPED},
        {"name": "with", "joinTable": looked_up},
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[*STREAMS, side],
        tables=[{"name": "rounds", "store": store, "broadcast": True, "sideInputs": [{"stream": "users"}]}],
    ) as lanes:
        sent = Counter[str]()

        def reached(user: str, number: int) -> bool:
            lanes.send(user, range(sent[user], sent[user] + 1))
            sent[user] += 1
            return bool(lanes.until_written(user, sent[user])[-1]["round"] == number)

        def next_round(number: int, *users: str) -> None:
            rows = [{"user": user, "round": number} for user in (filling, slow)]
            write_all(lanes.system, "users", inputs(rows, "user"), PARTITIONS)
            for user in users:
                until(partial(reached, user, number), limit=60)

        next_round(1, filling, slow)
        hold = tmp_path / "row.hold"
        hold.touch()
        lanes.send(slow, range(sent[slow], sent[slow] + 1), hold)
        until(hold.with_suffix(".seen").exists, limit=60)
        for number in range(2, 5):
            next_round(number, filling)
        hold.unlink()
        sent[slow] += 1
        assert lanes.until_written(slow, sent[slow])[-1]["round"] == 1
        until(partial(reached, slow, 4), limit=60)


@pytest.mark.usefixtures("process")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a volume")
def test_a_full_volume_stops_its_own_lane_until_there_is_room(tmp_path: Path) -> None:
    volume = state_directory(tmp_path / "data" / "state", "test.app", "Partition 0", "kept").parent
    volume.mkdir(parents=True)
    names = [f"u{n}" for n in range(160)]
    places = partition_of(pa.array(names).cast(pa.binary()), PARTITIONS)
    full, other = ([name for name, at in zip(names, places, strict=True) if at == lane] for lane in (0, 1))
    mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(volume))
    try:
        with two_lanes(
            tmp_path,
            {"name": "put", "sendToTable": {"from": "events", "table": "kept"}},
            {"name": "sent", "sendTo": {"from": "events", "stream": "out"}},
            tables=[{"name": "kept", "store": "rocksdb"}],
        ) as running:
            for name in (full[0], other[0]):
                running.send(name, range(1))
                running.until_written(name, 1)
            for name in full:
                running.send(name, range(1, 2), Path(shake_256(name.encode()).hexdigest(10_000)))
            at = running.run.until(lambda said: said.get("event") == "trouble")
            assert "processor-" in str(running.run.said[at - 1])
            for number in range(1, 8):
                running.send(other[0], range(number, number + 1))
                running.until_written(other[0], number + 1)
            mount("-o", "remount,size=256m", str(volume))
            running.run.until_so(lambda: len(running.rows_of(full)) > len(full))
            assert Counter(row["user"] for row in running.rows_of(full)) == Counter([full[0], *full])
    finally:
        subprocess.run(["/bin/umount", str(volume)], check=True)


def mount(*arguments: str) -> None:
    subprocess.run(["/bin/mount", *arguments], check=True)


def executor_of(worker: int) -> int:
    """The JVM whose daemon has forked a worker."""
    return parent_of(parent_of(worker))
