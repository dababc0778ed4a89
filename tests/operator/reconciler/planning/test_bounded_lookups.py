"""Look-ups of clusters have bounds: what a broker answers ends the look-up of the app that named it."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.partition_counts.lookup_messages import (
    MEMORY_BYTES,
    MOST_THREADS,
    STACK_BYTES,
)
from streamapp_operator.reconciler.partition_counts.lookup_processes import DOUBTFUL_AT_ONCE, LOOKUPS_AT_ONCE
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    LookupEnded,
    PartitionCounts,
    PendingCounts,
    SystemUnavailable,
)
from streamapp_operator.reconciler.partition_counts.partition_lookup import LivePartitionLookup
from tests.harness.kafka.hostile_broker import HostileBroker, hostile_broker
from tests.harness.operator.golden_objects import INSTALLATION
from tests.harness.operator.looked_up_apps import Secrets, answered, app, cast_cluster

pytestmark = pytest.mark.usefixtures("process")
MOST_STACKS = MEMORY_BYTES // STACK_BYTES
"""Threads that fit into a process's memory, whatever it does between two counts."""


def _running(lookups: LivePartitionLookup) -> Iterator[int]:
    """The processes of look-ups that run."""
    for process in lookups.lookups.processes():
        if process.pid is not None:
            yield process.pid


def _status(pid: int | str) -> dict[str, int]:
    rows = (line.split() for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines())
    return {row[0].rstrip(":"): int(row[1]) for row in rows if row[0] in {"Threads:", "VmHWM:", "VmData:"}}


async def _peaks(lookups: LivePartitionLookup, asked: StreamApp) -> tuple[PartitionCounts, dict[str, int]]:
    """The answer, and the most that a process of a look-up took meanwhile."""
    peaks = {"Threads": 0, "VmHWM": 0, "VmData": 0}
    answer = asyncio.create_task(answered(lookups, asked))
    while not answer.done():
        for pid in _running(lookups):
            with suppress(OSError, ValueError):
                status = _status(pid)
                peaks = {name: max(peak, status.get(name, 0)) for name, peak in peaks.items()}
        await asyncio.sleep(0.005)
    return answer.result(), peaks


def _client_threads() -> set[str]:
    """The main threads of the Kafka clients here; a client that is there may add others at any time."""
    threads = Path("/proc/self/task").glob("*/comm")
    return {str(path) for path in threads if path.read_text("utf-8").startswith("rdk:main")}


@pytest.mark.parametrize(
    "attack", [HostileBroker(brokers=1_200), HostileBroker(partitions=99_999)], ids=["brokers", "partitions"]
)
def test_what_a_cluster_answers_ends_the_lookup_of_its_app_and_of_no_other(attack: HostileBroker) -> None:
    async def ask(good: HostileBroker) -> tuple[PartitionCounts, dict[str, int], PartitionCounts]:
        lookups = LivePartitionLookup(cast_cluster(Secrets()), lambda: 0.0, INSTALLATION)
        try:
            attacked, peaks = await _peaks(lookups, app(attack.address, name="attacker"))
            return attacked, peaks, await answered(lookups, app(good.address, name="other"))
        finally:
            await lookups.close()

    clients_before = _client_threads()  # those of other tests
    with hostile_broker(attack), hostile_broker(HostileBroker(partitions=3)) as good:
        attacked, peaks, other = asyncio.run(ask(good))
    assert isinstance(attacked, LookupEnded)
    assert f"{MEMORY_BYTES >> 20} MiB of memory" in attacked.message or f"{MOST_THREADS}" in attacked.message
    assert peaks["VmData"] <= MEMORY_BYTES >> 10
    assert peaks["Threads"] <= MOST_STACKS
    assert isinstance(other, KnownCounts)
    assert other.counts["views"] == 3
    assert _client_threads() <= clients_before, "a client's thread in the operator"


def test_clusters_that_never_answer_leave_a_process_to_the_others() -> None:
    now = [0.0]

    async def ask(silent: list[HostileBroker], good: HostileBroker) -> PartitionCounts:
        lookups = LivePartitionLookup(
            cast_cluster(Secrets()), lambda: now[0], INSTALLATION, answer_seconds=0.5
        )
        apps = [app(broker.address, name=f"silent-{number}") for number, broker in enumerate(silent)]
        try:
            for answer in await asyncio.gather(*(answered(lookups, asked) for asked in apps)):
                assert isinstance(answer, SystemUnavailable)
            now[0] += 10
            again = [asyncio.create_task(lookups.counts(asked)) for asked in apps]
            await asyncio.sleep(0)
            found = await answered(lookups, app(good.address, name="other"))
            assert sum(1 for _ in _running(lookups)) <= DOUBTFUL_AT_ONCE + 1 <= LOOKUPS_AT_ONCE
            await asyncio.wait(again)
            return found
        finally:
            await lookups.close()

    with ExitStack() as stack:
        silent = [stack.enter_context(hostile_broker(HostileBroker(silent=True))) for _ in range(4)]
        good = stack.enter_context(hostile_broker(HostileBroker()))
        assert isinstance(asyncio.run(ask(silent, good)), KnownCounts)


def test_an_app_that_is_edited_has_one_lookup_at_a_time() -> None:
    async def ask(silent: list[HostileBroker]) -> None:
        lookups = LivePartitionLookup(cast_cluster(Secrets()), lambda: 0.0, INSTALLATION)
        try:
            for broker in silent:
                assert isinstance(await lookups.counts(app(broker.address)), PendingCounts)
                assert sum(1 for _ in _running(lookups)) == 1
        finally:
            await lookups.close()

    first, then = HostileBroker(silent=True), HostileBroker(silent=True)
    with hostile_broker(first), hostile_broker(then):
        asyncio.run(ask([first, then]))


def test_the_lookup_of_topics_that_are_too_large_ends_for_the_app_that_asks_for_them() -> None:
    """Two apps of one cluster, with the same credentials."""

    async def ask(broker: HostileBroker) -> tuple[PartitionCounts, PartitionCounts]:
        lookups = LivePartitionLookup(cast_cluster(Secrets()), lambda: 0.0, INSTALLATION)
        try:
            large = await answered(lookups, app(broker.address, name="large"))
            broker.partitions = 2
            return large, await answered(lookups, app(broker.address, "small-", name="small"))
        finally:
            await lookups.close()

    with hostile_broker(HostileBroker(partitions=400_000)) as broker:
        large, small = asyncio.run(ask(broker))
    assert isinstance(large, LookupEnded)
    assert "larger than 8 MiB" in large.message
    assert isinstance(small, KnownCounts)
