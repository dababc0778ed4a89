"""The author of job models in a run of its own: looks at streams and wishes, and proposes the next model.

Where an operator is the author the driver has none of this. Both use the same rules (`streamapp.author`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from streamapp.protocol.report import Warned
from streamapp.spec.app import StreamApp
from streamapp.spec.config_keys import FREQUENCY, MONITOR
from streamapp.spec.durations import milliseconds
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.app_refusal import AppRefusedError, problem_of
from streamapp_runtime.driver.executors.lane_assignment import Lanes, processor_by_task
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.draft import draft_of
from streamapp_runtime.driver.start.launch import Launch, locations_of, prepare_launch, processor_names
from streamapp_runtime.driver.start.live_world import counts_of, live_world
from streamapp_runtime.systems.system import UnavailableError

EMBEDDED_SECONDS = 2.0
"""How often streams are counted where that costs next to nothing and nothing else was said."""

Counts = Mapping[str, int | None]


@dataclass(slots=True)
class ModelAuthor:
    """What is looked at between two batches."""

    site: AppContext
    here: str
    clock: Callable[[], float]  # seconds, for periods
    now: Callable[[], float]  # seconds since the epoch, for splits
    warnings: tuple[Warned, ...] = ()
    _counted: float = float("-inf")
    _refused: tuple[Counts, tuple[str, ...]] | None = None  # what was refused last, not to be asked again

    def due(self) -> bool:
        """Whether streams are to be counted again."""
        seconds = period(self.site.app)
        return seconds is not None and self.clock() - self._counted >= seconds

    def next(
        self, launch: Launch, lanes: Lanes, session: SparkSession, processors: int, *, count: bool
    ) -> tuple[Launch, list[str]] | None:
        """Another model, ready to run, and why; None where none is wanted or the wanted one cannot be."""
        counts = self._counts(launch) if count else launch.counts
        names = processor_names(processors)
        if (counts, names) == (launch.counts, tuple(sorted(launch.lanes))):
            self.warnings, self._refused = (), None
            return None
        if (counts, names) == self._refused:
            return None
        try:
            made = self._made(launch, lanes, session, names)
        except AppRefusedError as error:
            self._refused = counts, names
            self.warnings = tuple(Warned(p.reason, p.path, p.message) for p in error.problems)
            return None
        self.warnings, self._refused = (), None
        return made, _why(launch, made)

    def _counts(self, launch: Launch) -> Counts:
        try:
            found = counts_of(self.site.app, self.site.system)
        except UnavailableError:
            return launch.counts  # looked at another time
        self._counted = self.clock()
        return found

    def _made(self, launch: Launch, lanes: Lanes, session: SparkSession, names: tuple[str, ...]) -> Launch:
        app = self.site.app
        names = tuple(sorted(names))
        draft = draft_of(app, live_world(self.site, names, self.now()))
        known = launch.proposal
        same = (draft.proposal.graph, draft.proposal.plan) == (known.graph, known.plan)
        locations = locations_of(app, names, self.here)
        placed = launch.placed_as(draft.assignment, locations, processor_by_task(lanes))
        if isinstance(placed, Refusal):
            raise AppRefusedError([problem_of(app, placed)])
        program = launch.program if same else None
        return prepare_launch(self.site, session, draft, placed.tasks_of(), locations, launch.model, program)


def period(app: StreamApp) -> float | None:
    """How often streams are counted, in seconds; None for never."""
    said = app.spec.config
    enabled = said[MONITOR] == "true" if MONITOR in said else app.spec.monitor.enabled
    if not enabled:
        return None
    if FREQUENCY in said:
        return int(said[FREQUENCY]) / 1000
    embedded = all(system.embedded is not None for system in app.spec.systems)
    if embedded and "interval" not in app.spec.monitor.model_fields_set:
        return EMBEDDED_SECONDS
    return milliseconds(app.spec.monitor.interval) / 1000


def _why(before: Launch, after: Launch) -> list[str]:
    grown = [
        f"{stream} went from {before.counts.get(stream) or 0} to {count} partitions"
        for stream, count in sorted(after.counts.items())
        if count is not None and count != before.counts.get(stream)
    ]
    was, now = len(before.lanes), len(after.lanes)
    return grown + [f"{now} processors instead of {was}"] * (was != now)
