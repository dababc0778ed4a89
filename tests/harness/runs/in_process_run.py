"""An app whose driver and lanes are in the test's own process, on a clock of the test's own."""

import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamapp.author.names import checkpoint_stream
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun, run_settings
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.modes.model_author import ModelAuthor
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.driver.start.launch import launch
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.expressions.spark_source import RecordedSpark, SparkOnDemand
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.testing.in_process_lanes import InProcessHosting
from streamapp_runtime.testing.shared_jvm import shared_jvm
from tests.harness.engine.one_system import OneSystem
from tests.harness.runs.called_observer import CalledObserver

MOST_STEPS = 200


@dataclass(slots=True)
class InProcessRun:
    """One app on an embedded log, with a driver that is started and ended as a test says."""

    app: StreamApp
    folder: Path
    seconds: float = field(default_factory=time.time)
    system: EmbeddedSystem = field(init=False)
    troubles: list[str] = field(default_factory=list)
    _hosting: InProcessHosting = field(init=False)
    _spark: SparkOnDemand = field(init=False)
    _loop: Loop | None = None
    _author: ModelAuthor | None = None

    def __post_init__(self) -> None:
        self.system = EmbeddedSystem(self.folder)
        self._spark = SparkOnDemand(RecordedSpark(shared_jvm, lambda _: None).open)
        self._hosting = InProcessHosting()

    @property
    def loop(self) -> Loop:
        assert self._loop is not None, "the app does not run"
        return self._loop

    def now(self) -> float:
        return self.seconds

    def start(self) -> None:
        """Start a driver; one that runs is killed before."""
        self.end()
        ledger = CheckpointStream(self.system, checkpoint_stream(self.app.application_id))
        functions = load_user_functions(self.app)
        context = AppContext(
            self.app,
            embedded_storage(self.folder, self.app),
            OneSystem(self.system, self.app),
            ledger,
            functions,
            self.now,
        )
        ready = launch(context, self._spark, 1)
        settings = replace(run_settings(self.app), batch_interval=0.0, batch_latency=0.0, copies_paced=False)
        self._loop = Loop(
            self._spark,
            CurrentRun(ready, settings),
            hosting=self._hosting,
            clock=lambda: int(self.seconds * 1000),
            pause=lambda _: None,
            observer=CalledObserver(batch_failed=self.troubles.append),
        )
        self._author = ModelAuthor(context, None, self.now, self.now)
        self._take_clock()
        self._loop.start()

    def end(self) -> None:
        """End the driver as SIGKILL would."""
        self._loop = None
        self._hosting.processes.close()

    def take_up_growth(self) -> None:
        """Count the streams, and run another model where they have grown."""
        assert self._author is not None
        change = self._author.next(
            self.loop.launch, self.loop.lanes.supervisor.lanes, self._spark, 1, count=True
        )
        if change is not None:
            self.loop.switch(change[0])
            self._take_clock()

    def advance(self, seconds: float) -> None:
        """Let time pass, and have the app do what it can do then."""
        self.seconds += seconds
        for _ in range(MOST_STEPS):
            if self.loop.step() is None and self.loop.lanes.supervisor.bound:
                return
        raise AssertionError(f"the app has still something to do: {self.troubles}")

    def _take_clock(self) -> None:
        self.loop.backlog.data_loss.clock = self.now
        self.loop.backlog.unread.clock = self.now
