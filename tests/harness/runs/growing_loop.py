"""A loop and its author on one process, and streams that tests let grow."""

import time
from dataclasses import dataclass

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.modes.model_author import ModelAuthor
from tests.harness.runs.app_runs import AppEnv
from tests.harness.runs.drained_loop import drain


@dataclass(slots=True)
class Run:
    """An app that runs, and may go on with another model."""

    loop: Loop
    author: ModelAuthor

    @classmethod
    def start(cls, env: AppEnv, app: StreamApp, rows: int = 1_000) -> "Run":
        _, ready = env.launched(app)
        loop = env.loop(CurrentRun.of(ready, batch_rows=rows), pause=lambda _: None)
        loop.start()
        return cls(loop, ModelAuthor(ready.context, "here", time.monotonic, time.time))

    def review(self, processors: int = 1, *, count: bool = True) -> list[str]:
        """Take up what is new, if anything is; why another model runs."""
        loop = self.loop
        change = self.author.next(
            loop.launch, loop.lanes.supervisor.lanes, loop.lanes.spark, processors, count=count
        )
        if change is None:
            return []
        after, reasons = change
        loop.switch(after)
        return reasons

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.loop.step()

    def to_the_end(self) -> None:
        drain(self.loop)
