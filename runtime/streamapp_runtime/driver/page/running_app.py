"""The app as its page shows it: plan, tasks and processors of one model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from streamapp.author.growth_outlook import GrowthOutlook, growth_outlook
from streamapp.author.proposal import PlanningInputs
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.graph.wiring import direct_producers, streams_read
from streamapp.placement.placement_reason import PlacementReason
from streamapp.plan.partition_plan import Plan
from streamapp.spec.redaction import Redaction
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data, data_as_yaml
from streamapp.tasks.layouts.split import Split
from streamapp_runtime.driver.page.newest_rows import newest_rows
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.operators.compilation.row_operations import EvaluateRows
from streamapp_runtime.operators.state.event_clock import WatermarkReach
from streamapp_runtime.operators.stateless.stream_operations import declared_stream
from streamapp_runtime.operators.user_code.user_operations import OWN_CODE_OPERATIONS

TableSizes = Mapping[str, tuple[int, int]]
"""Entries and bytes by table."""


def no_sizes() -> TableSizes:
    """The sizes where there is no store on disk."""
    return {}


def no_outlook(_: str) -> GrowthOutlook | None:
    """The outlook where nothing is known of streams."""
    return None


def no_rows(_: str) -> str:
    """The newest rows where nothing is known of streams."""
    return ""


@dataclass(frozen=True, slots=True)
class OnDemand:
    """The lookups that are made only when a page asks."""

    outlook: Callable[[str], GrowthOutlook | None] = no_outlook  # of a stream with twice the partitions
    resource: Callable[[], str] = str  # as YAML, without secrets and what equals a default
    rows: Callable[[str], str] = no_rows  # the newest of a stream, as lines


@dataclass(frozen=True, slots=True)
class RunningApp:
    """One model of an app, apart from the progress of its run."""

    name: str
    graph: Graph
    plan: Plan
    model: int
    lanes: Mapping[str, tuple[str, ...]]  # processor -> tasks, those of missing processors too
    partitions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # task -> what it reads
    intermediate_streams: frozenset[str] = frozenset()
    locations: Mapping[str, str | None] = field(default_factory=dict)  # processor -> where it is
    reasons: Mapping[str, PlacementReason] = field(default_factory=dict)  # task -> why it is on its processor
    counts: Mapping[str, int | None] = field(default_factory=dict)  # stream -> partitions of today
    splits: tuple[Split, ...] = ()  # growths that are remembered
    timed_inputs: Mapping[str, frozenset[str]] = field(default_factory=dict)  # task -> those with event times
    reaches: Mapping[str, WatermarkReach] = field(default_factory=dict)  # operators whose rows wait for time
    own_code: frozenset[str] = frozenset()  # operators that run the app's own Python
    lookups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # operator -> its remote tables
    evaluated: frozenset[str] = frozenset()  # the parts of operators that Spark evaluates
    sizes: Callable[[], TableSizes] = no_sizes
    on_demand: OnDemand = field(default_factory=OnDemand)
    streams_before: Mapping[str, frozenset[str]] = field(init=False)  # operator -> those whose rows reach it

    def __post_init__(self) -> None:
        object.__setattr__(self, "streams_before", _streams_before(self.graph))

    def reach(self, operator: str) -> WatermarkReach:
        """The streams that decide how far an operator has come in event time."""
        before = WatermarkReach(dict.fromkeys(sorted(self.streams_before[operator]), 0), timed=True)
        return self.reaches.get(operator, before)


def running_app(
    launch: Launch,
    lanes: Mapping[str, tuple[str, ...]],
    reasons: Mapping[str, PlacementReason],
    sizes: Callable[[], TableSizes],
) -> RunningApp:
    """A launch as the page shows it, with its tasks on these processors."""
    layout = launch.assignment.layout
    operations = {task.name: task.operation for task in launch.program.tasks}
    return RunningApp(
        name=launch.app.application_id,
        graph=launch.proposal.graph,
        plan=launch.proposal.plan,
        model=launch.model.version,
        lanes=lanes,
        partitions={
            task: tuple(f"{declared_stream(partition.stream)}#{partition.index}" for partition in read)
            for task, read in launch.partitions.items()
        },
        intermediate_streams=launch.intermediate_streams(),
        locations=launch.locations,
        reasons=reasons,
        counts=launch.counts,
        splits=layout.splits,
        timed_inputs=_timed_inputs(launch.setup.time),
        reaches=launch.setup.time.states if launch.setup.time else {},
        own_code=frozenset(
            name for name, operation in operations.items() if isinstance(operation, OWN_CODE_OPERATIONS)
        ),
        lookups={name: operation.remote_tables() for name, operation in operations.items()},
        evaluated=frozenset(
            name for name, operation in operations.items() if isinstance(operation, EvaluateRows)
        ),
        sizes=sizes,
        on_demand=OnDemand(
            outlook=partial(_doubled, launch),
            resource=partial(shown_resource, launch.app),
            rows=partial(newest_rows, launch.app, launch.context.systems.connections),
        ),
    )


def shown_resource(app: StreamApp) -> str:
    """The resource as a page shows it: viewers may lack the right to read resources and Secrets."""
    data = as_data(app)
    return data_as_yaml(Redaction([data], {app.metadata.name}).redacted(data))


def _doubled(launch: Launch, stream: str) -> GrowthOutlook | None:
    """The outlook for a stream with twice the partitions, which every rule of tasks allows at first."""
    layout, count = launch.assignment.layout, launch.counts.get(stream)
    if count is None:
        return None
    inputs = PlanningInputs(launch.counts, layout, layout.run, processors=tuple(launch.lanes))
    return growth_outlook(launch.app, inputs, launch.assignment, stream, 2 * count)


def _timed_inputs(event_time: EventTimeSetup | None) -> dict[str, frozenset[str]]:
    if event_time is None:
        return {}
    return {task: event_time.streams(task) & event_time.delays.keys() for task in event_time.partitions}


def _streams_before(graph: Graph) -> dict[str, frozenset[str]]:
    """The streams whose rows reach an operator within its task."""
    streams: dict[str, frozenset[str]] = {}

    def before(operator: OperatorNode, path: frozenset[str]) -> frozenset[str]:
        if operator.name in streams or operator.name in path:
            return streams.get(operator.name, frozenset())
        path |= {operator.name}
        producers = [before(producer, path) for producer in direct_producers(graph, operator)]
        return streams.setdefault(operator.name, frozenset(streams_read(graph, operator)).union(*producers))

    for operator in graph.operators.values():
        before(operator, frozenset())
    return streams
