"""A run from beginning to end: session, launch, loop, release."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from socket import gethostname
from typing import Protocol

from pyspark.sql import SparkSession

from streamapp.author.names import checkpoint_stream
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.executors.jvm import mute_jvm
from streamapp_runtime.driver.executors.spark_session import close_session, open_session
from streamapp_runtime.driver.failures import RETRIABLE, FailedError
from streamapp_runtime.driver.modes.model_author import ModelAuthor
from streamapp_runtime.driver.modes.standalone_follow import StandaloneFollower
from streamapp_runtime.driver.modes.stop_signal import StopFlag
from streamapp_runtime.driver.reporting.listeners import Listeners
from streamapp_runtime.driver.start.app_storage import AppStorage, storage_of
from streamapp_runtime.driver.start.launch import Launch, launch
from streamapp_runtime.driver.start.locality_memory import LocalityMemory
from streamapp_runtime.driver.start.unsupported_fields import unsupported_fields
from streamapp_runtime.lanes import tables_file
from streamapp_runtime.stores.directories.state_directory import quoted
from streamapp_runtime.systems.connection import open_system
from streamapp_runtime.systems.stream_system import (
    FencedError,
    InvalidSettingsError,
    StreamSystem,
    UnfitStreamError,
)
from streamapp_runtime.transport.file_transport import FileTransport, message_folder

POLL_SECONDS = 0.05
TIDY_SECONDS = 60.0
"""How often an idle driver looks after the log; small partitions are compacted at commits anyway."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How long to run and how."""

    processors: int
    data: Path | None = None  # in place of the path in the resource; the folder of stores
    secrets: Path | None = None  # where settings lie that the resource does not say
    until_end: bool = False
    seconds: float | None = None
    rows: int = 1_000_000
    code: Path | None = None  # where the app's own code is found, beside what is installed


class ModelFollower(Protocol):
    """What goes on between two batches."""

    def look(self, *, now: bool = False) -> bool:
        """Take up another model, if one is wanted; whether one was taken up."""

    def tell(self, batch: BatchResult | None = None, *, ended: bool = False) -> None:
        """Say how things are."""


def run_standalone(
    app: StreamApp,
    wish: RunOptions,
    stop: StopFlag,
    hearers: Listeners,
) -> None:
    """Run an app until it is told to stop, until its end, or for a while.

    RefusedError when it cannot run as it is, FailedError when it may be tried again.
    """
    if problems := unsupported_fields(app):
        raise AppRefusedError(problems)
    home = storage_of(app, wish.data, wish.secrets)
    system = open_app_system(home)
    if wish.code is not None:
        sys.path.insert(0, str(wish.code))

    def settled(opened: SparkSession) -> None:
        if wish.code is not None:
            opened.sparkContext.environment["PYTHONPATH"] = str(wish.code)

    session = open_session(app.application_id, wish.processors)
    settled(session)
    here = gethostname()
    places = LocalityMemory.in_folder(home.state.parent / "places" / quoted(app.application_id), here)
    carrier = FileTransport(message_folder(home.state, app.application_id))
    carrier.begin()
    force = ExecutorPool(app.application_id, session, settled, wish.processors)
    try:
        ledger = CheckpointStream(system, checkpoint_stream(app.application_id))
        ready = _launched(app, home, system, ledger, session, wish.processors, places)
        hearers.launched(ready)
        tables_file.write_tables_file(Path(ready.setup.state), ready.program.tables, ready.setup)
        loop = Loop(
            session,
            system,
            ledger,
            ready,
            wish.rows,
            interval=milliseconds(app.spec.batch.interval) / 1000,
            delay=milliseconds(app.spec.rebalance_delay) / 1000,
            trouble=hearers.trouble,
            changed=hearers.changed,
        )
        start_loop(loop)
        author = ModelAuthor(ready.site, here, time.monotonic, time.time)
        beside = StandaloneFollower(loop, author, force, carrier, places, wish.processors, hearers.changed)
        beside.begin()
        serve(loop, beside, stop, hearers.heard, with_compaction(system, hearers.idle), wish)
        loop.release()
        beside.tell(ended=True)
        loop.close_turn()
    finally:
        mute_jvm()
        close_session(force.session)
        system.close()


def open_app_system(home: AppStorage) -> StreamSystem:
    """The system of an app's streams; RefusedError where its settings are wrong."""
    try:
        return open_system(home.connection)
    except InvalidSettingsError as error:
        raise AppRefusedError([Problem(0, 0, "spec.systems[0].kafka.configSecret", str(error))]) from None


def _launched(
    app: StreamApp,
    home: AppStorage,
    system: StreamSystem,
    ledger: CheckpointStream,
    session: SparkSession,
    processors: int,
    places: LocalityMemory,
) -> Launch:
    try:
        return launch(app, home, system, ledger, session, processors, places=places)
    except (FencedError, *RETRIABLE) as error:
        raise FailedError(f"the start failed: {error}") from error
    except UnfitStreamError as error:
        raise AppRefusedError([Problem(0, 0, "spec", str(error))]) from error


def start_loop(loop: Loop) -> None:
    """Begin a loop; what goes wrong may go well another time."""
    try:
        loop.start()
    except RETRIABLE as error:
        raise FailedError(f"the start failed: {error}") from error


def serve(
    loop: Loop,
    beside: ModelFollower,
    stop: StopFlag,
    heard: Callable[[BatchResult], None],
    idle: Callable[[], None],
    wish: RunOptions | None = None,
) -> None:
    """Batch after batch, until the end or until told to stop; without a wish as long as the app goes on."""
    deadline = None if wish is None or wish.seconds is None else time.monotonic() + wish.seconds
    while not stop.is_set() and (deadline is None or time.monotonic() < deadline):
        beside.look()
        batch = loop.step()
        if batch is not None:
            heard(batch)
            beside.tell(batch)
            if loop.ended:
                return
            continue
        if not loop.behind:
            if wish is not None and wish.until_end and not beside.look(now=True):
                return
            idle()
        stop.wait(POLL_SECONDS)


def with_compaction(system: StreamSystem, idle: Callable[[], None]) -> Callable[[], None]:
    """Beside what else is done while there is nothing to read: large changelogs are compacted."""
    done = time.monotonic()

    def both() -> None:
        nonlocal done
        if time.monotonic() - done > TIDY_SECONDS:
            system.tidy()
            done = time.monotonic()
        idle()

    return both
