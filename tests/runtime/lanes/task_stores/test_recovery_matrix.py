"""Each cell of the matrix of recovery, on real stores: what is kept, and from where its stream is read.

The stream holds the offsets 2 to 6, and the checkpoint says that 4 is read next.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark import SparkContext

from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.batches.side_input_progress import SideInputProgress
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.inputs.read_positions import ReadPositions
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange, allocate
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.driver.start.launch import Launch, launch
from streamapp_runtime.driver.start.user_functions import UserFunctions
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.engine.filled_table import DAY, NAME, FilledTable
from tests.harness.engine.one_system import OneSystem
from tests.harness.runs.app_runs import app
from tests.runtime.lanes.task_stores.conftest import Make

PERSISTENT = [StoreKind.LMDB, StoreKind.ROCKSDB]
OLDEST, LAST, END = 2, 4, 6
Launches = Mapping[bool, Launch]  # by whether main inputs wait for the table


def lost(table: FilledTable) -> None:
    table.restarts()
    shutil.rmtree(table.folder / "state", ignore_errors=True)


def too_old(table: FilledTable) -> None:
    table.restarts()
    table.now += DAY


def of_other_columns(table: FilledTable) -> None:
    table.side_inputs.release()
    table.meaning = "another"
    table.new_worker()


def behind_the_stream(table: FilledTable) -> None:
    """What it contains ends before the stream begins: deletions may have been missed."""
    table.restarts()
    table.forgets(4)
    table.write(e="5", f="6")


def valid(table: FilledTable) -> None:
    table.restarts()


def damaged(table: FilledTable) -> None:
    table.restarts()
    for form in (table.folder / "state").rglob("form"):
        form.unlink()


@dataclass(frozen=True)
class Outcome:
    start: int
    waits: bool
    content: dict[str, str]


Opened = Callable[[FilledTable], Outcome]


@pytest.fixture(scope="module")
def launches(session: SparkContext, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launches]:
    """An app with a table, as its driver has it: filled by a stream with `bootstrap`, and without."""
    folder = tmp_path_factory.mktemp("apps")
    with closing(EmbeddedSystem(folder / "data")) as system:
        for stream in ("events", "users"):
            system.create(stream, 4)
        yield {
            bootstrap: launch(in_folder(joining(bootstrap), folder, system), session, 1)
            for bootstrap in (True, False)
        }


def in_folder(made: StreamApp, folder: Path, system: EmbeddedSystem) -> AppContext:
    ledger = CheckpointStream(system, f"{made.application_id}.checkpoint")
    return AppContext(made, embedded_storage(folder, made), OneSystem(system, made), ledger, UserFunctions())


def joining(bootstrap: bool) -> StreamApp:
    streams = [{"name": name, "key": "id", "columns": "id STRING"} for name in ("events", "users")]
    return app(
        {"name": "joined", "joinTable": {"from": "events", "table": "tiers", "select": "id"}},
        {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
        streams=[*streams, {"name": "out"}],
        tables=[{"name": "tiers", "sideInputs": [{"stream": "users", "bootstrap": bootstrap}]}],
        name="first" if bootstrap else "latest",
    )


@pytest.fixture
def outcome(launches: Launches) -> Opened:
    """What is there when a worker has opened its store, and whether the driver lets main inputs be read."""

    def opened(table: FilledTable) -> Outcome:
        contained = table.opened()[0]
        return Outcome(contained, driver_waits(launches[table.bootstrap], table, contained), table.content())

    return opened


def driver_waits(ready: Launch, table: FilledTable, contained: int) -> bool:
    """Whether a driver that starts, and hears what the store contains, leaves main inputs for later."""
    side, main = Partition(NAME, 0), Partition("events", 0)
    (task,) = (name for name, partitions in ready.partitions.items() if main in partitions)
    assert side in ready.partitions[task]
    progress = SideInputProgress.of(ready)
    spans = {partition: table.span(partition.index) for partition in progress.partitions}
    progress.start(spans)
    progress.note([TaskReport(task, TaskStatus.COMMITTED, contained={str(side): contained})])
    waiting = progress.waiting(ReadPositions({task: {side: table.last[0]}}))
    pending = [PendingRange(task, main, 0, 1), *progress.pending(spans)]
    read = {one.partition for one in allocate(pending, 100, ready.read_order, waiting)}
    assert (side in read) == (contained < END), "tables are filled in any case"
    return main not in read


def before(make: Make, kind: StoreKind, bootstrap: bool) -> FilledTable:
    """A table that has read 2 and 3 of the offsets from 2 to 6; 0 and 1 are gone."""
    table = make(kind, bootstrap=bootstrap)
    table.write(gone="0", too="1")
    table.forgets(OLDEST)
    table.write(a="1", b="2")
    table.batch()
    table.write(c="3", d="4")
    table.last = {0: LAST}
    return table


@pytest.mark.parametrize("kind", PERSISTENT)
def test_without_a_store_a_bootstrapped_table_is_filled_anew_and_main_inputs_wait(
    make: Make, kind: StoreKind, outcome: Opened
) -> None:
    table = before(make, kind, bootstrap=True)
    lost(table)
    assert outcome(table) == Outcome(OLDEST, waits=True, content={})
    table.batch()
    assert outcome(table) == Outcome(END, waits=False, content={"a": "1", "b": "2", "c": "3", "d": "4"})


@pytest.mark.parametrize("kind", PERSISTENT)
def test_without_a_store_a_table_goes_on_from_the_checkpoint_and_nothing_waits(
    make: Make, kind: StoreKind, outcome: Opened
) -> None:
    table = before(make, kind, bootstrap=False)
    lost(table)
    assert outcome(table) == Outcome(LAST, waits=False, content={})
    table.batch()
    assert table.content() == {"c": "3", "d": "4"}


@pytest.mark.parametrize("kind", PERSISTENT)
@pytest.mark.parametrize("spoil", [too_old, of_other_columns, damaged])
def test_with_an_invalid_store_a_bootstrapped_table_is_filled_anew_and_main_inputs_wait(
    make: Make, kind: StoreKind, spoil: Callable[[FilledTable], None], outcome: Opened
) -> None:
    table = before(make, kind, bootstrap=True)
    spoil(table)
    assert outcome(table) == Outcome(OLDEST, waits=True, content={})
    table.batch()
    assert not outcome(table).waits


@pytest.mark.parametrize("kind", PERSISTENT)
@pytest.mark.parametrize("spoil", [too_old, of_other_columns, damaged])
def test_with_an_invalid_store_a_table_is_made_again_and_goes_on_from_the_checkpoint(
    make: Make, kind: StoreKind, spoil: Callable[[FilledTable], None], outcome: Opened
) -> None:
    table = before(make, kind, bootstrap=False)
    spoil(table)
    assert outcome(table) == Outcome(LAST, waits=False, content={})


@pytest.mark.parametrize("kind", PERSISTENT)
def test_with_a_valid_store_a_bootstrapped_table_goes_on_from_what_it_contains(
    make: Make, kind: StoreKind, outcome: Opened
) -> None:
    table = before(make, kind, bootstrap=True)
    valid(table)
    assert outcome(table) == Outcome(4, waits=True, content={"a": "1", "b": "2"})
    table.batch()
    valid(table)
    assert outcome(table) == Outcome(END, waits=False, content={"a": "1", "b": "2", "c": "3", "d": "4"})


@pytest.mark.parametrize("kind", PERSISTENT)
def test_with_a_valid_store_a_table_goes_on_from_what_it_contains_and_nothing_waits(
    make: Make, kind: StoreKind, outcome: Opened
) -> None:
    table = before(make, kind, bootstrap=False)
    valid(table)
    table.last = {0: OLDEST}
    assert outcome(table) == Outcome(4, waits=False, content={"a": "1", "b": "2"})


@pytest.mark.parametrize("leave", [lost, too_old, valid])
def test_a_bootstrapped_table_in_memory_is_always_filled_anew_and_main_inputs_wait(
    make: Make, leave: Callable[[FilledTable], None], outcome: Opened
) -> None:
    table = before(make, StoreKind.MEMORY, bootstrap=True)
    leave(table)
    assert outcome(table) == Outcome(OLDEST, waits=True, content={})


@pytest.mark.parametrize("leave", [lost, too_old, valid])
def test_a_table_in_memory_goes_on_from_the_checkpoint_and_nothing_waits(
    make: Make, leave: Callable[[FilledTable], None], outcome: Opened
) -> None:
    table = before(make, StoreKind.MEMORY, bootstrap=False)
    leave(table)
    assert outcome(table) == Outcome(LAST, waits=False, content={})


@pytest.mark.parametrize("kind", PERSISTENT)
def test_a_store_that_missed_what_its_stream_has_forgotten_is_filled_anew(
    make: Make, kind: StoreKind
) -> None:
    table = make(kind)
    table.write(a="1", b="2")
    table.batch()
    table.write(a=None, c="3", d="4")
    table.restarts()
    table.forgets(3)
    assert table.opened() == {0: 3}
    assert table.content() == {}


def test_a_store_that_contains_more_than_its_stream_holds_is_filled_anew(make: Make) -> None:
    table = make()
    table.write(a="1", b="2")
    table.batch()
    table.restarts()
    store_folder = table.folder / "log"
    table.system.close()
    shutil.rmtree(store_folder)
    again = make()
    again.write(z="1")
    assert again.opened() == {0: 0}
    assert again.content() == {}
