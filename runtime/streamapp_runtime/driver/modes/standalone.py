"""The mode of `streamapp run`: the app is its own author, on this machine."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from socket import gethostname
from typing import Final

from pyspark import SparkContext

from streamapp.placement.locations.location_providers import PodFacts
from streamapp.protocol.log_settings import LogSettings
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.batches.run_settings import RunSettings, run_settings
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.ownership import Ownership
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations, no_locations
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.imports.table_import import ImportProgress, no_listener
from streamapp_runtime.driver.modes.app_run import RunLimits
from streamapp_runtime.driver.modes.model_author import ModelAuthor
from streamapp_runtime.driver.modes.run_lock import RunLock, lock_run
from streamapp_runtime.driver.modes.standalone_follow import StandaloneFollower
from streamapp_runtime.driver.modes.stop_signal import SignalStop
from streamapp_runtime.driver.spark.spark_output import SPARK_OUTPUT
from streamapp_runtime.driver.spark.spark_session import open_session
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import AppStorage, storage_of
from streamapp_runtime.driver.start.early_refusals import early_problems
from streamapp_runtime.driver.start.launch import Launch, launch
from streamapp_runtime.driver.start.locality_memory import LocalityMemory
from streamapp_runtime.driver.start.operator_checks import unloadable_code
from streamapp_runtime.driver.start.user_functions import UserFunctions, load_user_functions, location_by
from streamapp_runtime.log_lines.line_labels import ProcessRole
from streamapp_runtime.log_lines.python_logging import ProcessLogging
from streamapp_runtime.stores.directories.state_directory import quoted
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.stream_system import UnfitStreamError
from streamapp_runtime.transport.file_transport import FileTransport, message_folder

EXECUTOR_START_SECONDS: Final = 60.0
"""How long executors on this machine are waited for at the start."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run: how long it lasts, and how it runs."""

    processors: int
    data: Path | None = None  # in place of the path in the resource; the folder of stores
    secrets: Path | None = None  # where settings lie that the resource does not say
    until_end: bool = False
    seconds: float | None = None
    rows: int = 1_000_000
    show_values: bool = False  # on the page of the app
    fresh: bool = False  # give up what the app knows, and begin as a new one
    code: Path | None = None  # where the app's own code is found, beside what is installed
    logging: LogSettings | None = None  # of what the app's own code logs; None: Python's own


@dataclass(slots=True)
class Standalone:
    """A run by hand."""

    app: StreamApp
    options: RunOptions
    locations: ExecutorLocations = no_locations
    host: str = field(default_factory=gethostname)
    _functions: UserFunctions = field(init=False)  # the app's own
    _location: str | None = field(init=False)  # of all processors
    _locality: LocalityMemory = field(init=False)
    _transport: FileTransport = field(init=False)
    _lock: RunLock = field(init=False)  # for as long as this process lives

    @property
    def limits(self) -> RunLimits:
        """As the options have them."""
        return RunLimits(self.options.until_end, self.options.seconds)

    def begin(self) -> None:
        """There is nobody to be told yet."""

    def storage(self) -> AppStorage:
        """As the options have it, or the app."""
        storage = storage_of(self.app, self.options.data, self.options.secrets)
        if self.options.logging is None:
            return storage
        app_id, role = self.app.application_id, ProcessRole.EXECUTOR
        return replace(
            storage, logging=ProcessLogging(self.options.logging, app_id, role, takes_prints=False)
        )

    def refuse_early(self, storage: AppStorage) -> None:
        """A start takes seconds, and what it refuses may have been known before; so may another run."""
        if self.options.code is not None:
            sys.path.insert(0, str(self.options.code))
        if problems := unloadable_code(self.app):
            raise AppRefusedError(problems)
        self._functions = load_user_functions(self.app)
        self._location = self._located(self._functions)
        systems, fresh = storage.systems, self.options.fresh
        if problems := early_problems(self.app, systems, self._functions, fresh=fresh):
            raise AppRefusedError(problems)
        take_over = Ownership.of_run(self.app).take_over
        self._lock = lock_run(storage.state, self.app.application_id, take_over=take_over)

    def open_executors(self, storage: AppStorage) -> ExecutorPool:
        """Threads of this process for one processor, executors on this machine for several."""
        app_id, processors = self.app.application_id, self.options.processors
        SPARK_OUTPUT.keep_in(storage.state.parent / "logs" / f"{quoted(app_id)}.log")
        spark = open_session(app_id, processors)
        self._prepare(spark)
        folder = storage.state.parent / "places" / quoted(app_id)
        self._locality = LocalityMemory.in_folder(folder, self._location)
        self._transport = FileTransport(message_folder(storage.state, app_id))
        self._transport.begin()
        return ExecutorPool(app_id, spark, self._prepare, processors, storage.systems)

    def first_launch(
        self,
        storage: AppStorage,
        systems: Systems,
        ledger: CheckpointStream,
        spark: SparkContext,
        stop: SignalStop,
        import_progressed: Callable[[ImportProgress], None] = no_listener,
    ) -> Launch:
        """Take over, and propose the first model; stores stay where an earlier run has left them."""
        try:
            return launch(
                AppContext(
                    self.app,
                    storage,
                    systems,
                    ledger,
                    self._functions,
                    import_progressed=import_progressed,
                    show_values=self.options.show_values,
                ),
                spark,
                self.options.processors,
                locality=self._locality,
                fresh=self.options.fresh,
            )
        except UnfitStreamError as error:
            raise AppRefusedError([Problem(0, 0, "spec", str(error))]) from error

    def settings(self) -> RunSettings:
        """Those of the app, with the rows of a batch as the options have them.

        A run that ends when all is read has nothing to wait for.
        """
        settings = run_settings(self.app)
        return replace(
            settings,
            batch_rows=self.options.rows,
            batch_latency=0.0 if self.limits.until_end else settings.batch_latency,
            executor_start=EXECUTOR_START_SECONDS,
        )

    def follower(
        self, loop: Loop, executor_pool: ExecutorPool, changed: Callable[[RunChange], None]
    ) -> StandaloneFollower:
        """The follower that takes up growths, and what `streamapp scale` wants."""
        return StandaloneFollower(
            loop=loop,
            executor_pool=executor_pool,
            transport=self._transport,
            lock=self._lock,
            changed=changed,
            author=ModelAuthor(loop.launch.context, self._location, time.monotonic, time.time),
            locality=self._locality,
            processors=self.options.processors,
        )

    def _located(self, functions: UserFunctions) -> str | None:
        """The location of this machine: its name, or what the app's own provider says of it."""
        if functions.location is None:
            return self.host
        location = location_by(functions.location, PodFacts(self.host, node=self.host))
        if isinstance(location, Problem):
            raise AppRefusedError([location])
        return location or None

    def _prepare(self, context: SparkContext) -> None:
        if self.options.code is not None:
            context.environment["PYTHONPATH"] = str(self.options.code)
