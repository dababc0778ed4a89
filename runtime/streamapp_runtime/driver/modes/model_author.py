"""The author of job models in a run of its own: looks at streams and processors, and proposes the next model.

Where an operator is the author the driver has none of this. Both use the same rules (`streamapp.author`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from streamapp.author.model import KnownPlacement
from streamapp.author.monitoring import growth_interval
from streamapp.author.names import processor_names
from streamapp.protocol.driver_report import ReportedWarning
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.executors.lane_assignment import Lanes, processor_by_task
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.draft import draft_model
from streamapp_runtime.driver.start.launch import Launch, prepare_launch
from streamapp_runtime.driver.start.live_inputs import counts_of, live_inputs
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.systems.stream_system import UnavailableError

Counts = Mapping[str, int | None]


@dataclass(slots=True)
class ModelAuthor:
    """The author of a run's models, which looks at the streams between two batches."""

    context: AppContext
    location: str | None  # of all processors
    clock: Callable[[], float]  # seconds, for periods
    now: Callable[[], float]  # seconds since the epoch, for splits
    warnings: tuple[ReportedWarning, ...] = ()
    _counted: float = float("-inf")
    _refused: tuple[Counts, tuple[str, ...]] | None = None  # what was refused last, not to be asked again

    def due(self) -> bool:
        """True if streams are to be counted again."""
        seconds = growth_interval(self.context.app)
        return seconds is not None and self.clock() - self._counted >= seconds

    def next(
        self, launch: Launch, lanes: Lanes, spark: SparkSource, processors: int, *, count: bool
    ) -> tuple[Launch, list[str]] | None:
        """Another model, ready to run, and why; None where none is wanted or the wanted one cannot be."""
        counts = self._counts(launch) if count else self._latest_counts(launch)
        names = processor_names(processors)
        if counts == launch.counts and set(names) == launch.lanes.keys():
            self.warnings, self._refused = (), None
            return None
        if (counts, names) == self._refused:
            return None
        try:
            after = self._launch_anew(launch, lanes, spark, names)
        except AppRefusedError as error:
            self._refused = counts, names
            self.warnings = tuple(ReportedWarning(p.reason, p.path, p.message) for p in error.problems)
            return None
        self.warnings, self._refused = (), None
        return after, _reasons(launch, after)

    def _counts(self, launch: Launch) -> Counts:
        try:
            counts = counts_of(self.context.app, self.context.systems)
        except UnavailableError:
            return self._latest_counts(launch)  # looked at another time
        self._counted = self.clock()
        return counts

    def _latest_counts(self, launch: Launch) -> Counts:
        """The counts that were seen last: a refused growth stands until a look shows another one."""
        return self._refused[0] if self._refused else launch.counts

    def _launch_anew(
        self, launch: Launch, lanes: Lanes, spark: SparkSource, names: tuple[str, ...]
    ) -> Launch:
        owners = processor_by_task(lanes)
        known = KnownPlacement(
            model=launch.model,
            owners=owners,
            task_locations={task: launch.locations.get(owner) for task, owner in owners.items()},
            processor_locations=dict.fromkeys(names, self.location),
        )
        draft = draft_model(self.context.app, live_inputs(self.context, names, self.now()), known)
        before = launch.proposal
        same = (draft.proposal.graph, draft.proposal.plan) == (before.graph, before.plan)
        return prepare_launch(self.context, spark, draft, launch.program if same else None)


def _reasons(before: Launch, after: Launch) -> list[str]:
    notes = {growth.stream: growth.order_note for growth in after.assignment.grown}
    grown = [
        f"{stream} went from {before.counts.get(stream) or 0} to {count} partitions{notes.get(stream, '')}"
        for stream, count in sorted(after.counts.items())
        if count is not None and count != before.counts.get(stream)
    ]
    lanes_before, lanes_after = len(before.lanes), len(after.lanes)
    if lanes_before == lanes_after:
        return grown
    return [*grown, f"{lanes_after} processors instead of {lanes_before}"]
