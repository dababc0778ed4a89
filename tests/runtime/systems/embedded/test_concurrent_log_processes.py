"""Several processes write and read at once and are killed: every transaction is whole, none is lost."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import StreamOptions
from tests.harness.child_processes.log_writer import CHECKPOINT, PARTITIONS, STREAMS

ROOT = Path(__file__).parents[4]


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path / "log")
    for name, count in STREAMS.items():
        system.create(name, count)
    system.create(CHECKPOINT, 1, StreamOptions(compacted=True))
    yield system
    system.close()


@contextmanager
def writers(folder: Path, *names: str) -> Iterator[list[subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "tests.harness.child_processes.log_writer", str(folder)]
    running = [
        subprocess.Popen([*command, name], cwd=ROOT, stdout=subprocess.PIPE, text=True) for name in names
    ]
    try:
        yield running
    finally:
        for process in running:
            process.kill()
            process.communicate()


def wait_for_commits(process: subprocess.Popen[str], count: int) -> int:
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(count)]
    return int(lines[-1])


def records_of_transactions(system: EmbeddedSystem) -> list[Counter[tuple[str, int]]]:
    """For each partition, how many records each transaction has there, all as of one moment."""
    found = []
    for partition, span in system.spans(PARTITIONS).items():
        counted: Counter[tuple[str, int]] = Counter()
        for part in system.read(partition, span.oldest, span.end):
            for value in part.column("value").to_pylist():
                name, number, _ = value.decode().split(" ")
                counted[name, int(number)] += 1
        assert counted.total() == span.end - span.oldest
        found.append(counted)
    return found


def check_every_transaction_is_whole(system: EmbeddedSystem) -> dict[str, int]:
    """The last transaction of each writer, after looking at all of them."""
    found = records_of_transactions(system)
    last: dict[str, int] = {}
    for name, number in found[0]:
        last[name] = max(number, last.get(name, 0))
    whole = {(name, number): number % 40 + 1 for name, end in last.items() for number in range(1, end + 1)}
    assert all(counted == whole for counted in found)
    return last


@pytest.mark.usefixtures("process")
def test_writers_killed_at_any_moment_leave_whole_transactions_and_a_log_that_works(
    system: EmbeddedSystem, tmp_path: Path
) -> None:
    told: dict[str, int] = {}
    for numbers in [(1, 70, 31), (90, 2, 57), (13, 44, 120)]:
        with writers(tmp_path / "log", "ann", "bob", "cid") as running:
            for name, process, commits in zip(["ann", "bob", "cid"], running, numbers, strict=True):
                told[name] = wait_for_commits(process, commits)
                process.kill()
        last = check_every_transaction_is_whole(system)
        assert all(last[name] >= number for name, number in told.items())
        assert system.latest(CHECKPOINT) == {name.encode(): b"%d" % number for name, number in last.items()}
    system.tidy()
    check_every_transaction_is_whole(system)


@pytest.mark.usefixtures("process")
def test_a_reader_sees_each_transaction_whole_while_others_write(
    system: EmbeddedSystem, tmp_path: Path
) -> None:
    with writers(tmp_path / "log", "ann", "bob") as running:
        for _ in range(4):
            for process in running:
                wait_for_commits(process, 5)
            assert check_every_transaction_is_whole(system).keys() == {"ann", "bob"}


@pytest.mark.usefixtures("process")
def test_a_stream_grows_while_it_is_written_and_read(system: EmbeddedSystem, tmp_path: Path) -> None:
    with writers(tmp_path / "log", "ann") as (process,):
        for count in range(3, 20):
            wait_for_commits(process, 2)
            system.grow("views", count)
            assert system.partitions("views") == count
            check_every_transaction_is_whole(system)
