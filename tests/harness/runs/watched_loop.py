"""A loop in the tests' own process whose page is watched."""

import time
from dataclasses import dataclass, field
from typing import Any

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.page.app_snapshot import app_snapshot
from streamapp_runtime.driver.page.page_recorder import PageRecorder
from tests.harness.engine.watched_pages import PageClock
from tests.harness.runs.app_runs import AppEnv
from tests.harness.runs.drained_loop import drain
from tests.harness.runs.growing_loop import Run


@dataclass(slots=True)
class WatchedLoop:
    """A loop whose batches its page is told."""

    run: Run
    clock: PageClock = field(default_factory=PageClock)
    recorder: PageRecorder = field(init=False)

    def __post_init__(self) -> None:
        self.recorder = PageRecorder(time.monotonic, self.clock)
        self.recorder.launched(self.run.loop.launch)

    @classmethod
    def start(cls, env: AppEnv, app: StreamApp, rows: int = 1_000) -> "WatchedLoop":
        """The app, before its first batch."""
        return cls(Run.start(env, app, rows))

    def steps(self, count: int) -> None:
        """Run so many batches."""
        for _ in range(count):
            batch = self.run.loop.step()
            assert batch is not None
            self.recorder.batch_committed(batch)

    def to_the_end(self) -> None:
        """Run batches until all that is there was read."""
        for batch in drain(self.run.loop):
            self.recorder.batch_committed(batch)

    def snapshot(self) -> dict[str, Any]:
        """What the page shows."""
        return app_snapshot(self.recorder.facts())

    def release(self) -> None:
        """End its lanes."""
        self.run.loop.release()
