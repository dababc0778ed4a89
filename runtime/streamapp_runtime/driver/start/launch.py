"""An app that is ready to run: plan, tasks, streams, program and locations, all known and made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

from streamapp.author.app_streams import created_streams, declared_topics, main_inputs
from streamapp.author.key_reliance import key_placements
from streamapp.author.model import KnownPlacement
from streamapp.author.monitoring import settle_seconds
from streamapp.author.names import processor_names
from streamapp.author.proposal import Proposal
from streamapp.jobmodel.job_model import JobModel
from streamapp.placement.locations.store_history import StorePositions
from streamapp.placement.placement_reason import PlacementReason
from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.checkpoints.ownership import Ownership
from streamapp_runtime.driver.checkpoints.state_reset import StateReset
from streamapp_runtime.driver.checkpoints.state_schemas import take_state_schemas
from streamapp_runtime.driver.imports.imported_table import imported_tables
from streamapp_runtime.driver.imports.table_import import import_tables
from streamapp_runtime.driver.inputs.bounded_turns import BoundedTurn, take_turn
from streamapp_runtime.driver.inputs.broadcast_tables import BroadcastTable
from streamapp_runtime.driver.inputs.read_scheduling import ReadOrder
from streamapp_runtime.driver.start.app_compilation import CompiledApp, compile_app
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.draft import Draft, first_draft
from streamapp_runtime.driver.start.event_time import timekeeping_of
from streamapp_runtime.driver.start.live_inputs import counts_of, live_inputs
from streamapp_runtime.driver.start.locality_memory import LocalityMemory
from streamapp_runtime.driver.start.stream_creation import (
    create_changelogs,
    create_late_row_stream,
    create_written_streams,
    rejection_policies,
    uncollected_rejections,
)
from streamapp_runtime.driver.start.stream_identity import verify_identities
from streamapp_runtime.driver.start.task_reads import (
    broadcast_tables_of,
    input_ends,
    latest_positions,
    partitions_by_task,
    read_order,
    read_streams,
)
from streamapp_runtime.driver.start.writer_schemas import with_writer_schemas
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.lanes.delivery_guarantee import delivery_guarantee_of
from streamapp_runtime.lanes.task_stores.side_input_specs import SideInputStoreSpec, side_input_store_specs
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec, store_specs
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.program.program import Program
from streamapp_runtime.remote.remote_settings import remote_settings
from streamapp_runtime.stores.directories.owned_stores import OwnedStores
from streamapp_runtime.systems.connection import EmbeddedConnection


@dataclass(frozen=True, slots=True)
class Launch:
    """An app that is ready to run."""

    context: AppContext
    proposal: Proposal
    assignment: Assignment
    program: Program
    setup: WorkerSetup
    model: JobModel
    lanes: Mapping[str, tuple[str, ...]]  # processor -> tasks
    partitions: Mapping[str, tuple[Partition, ...]]  # task -> what it reads, hops too
    streams: frozenset[str]  # all that are declared or read, by their names in orders
    read_order: ReadOrder
    shared: frozenset[Partition] = frozenset()  # what every task reads
    broadcasts: tuple[BroadcastTable, ...] = ()
    locations: Mapping[str, str | None] = field(default_factory=dict)  # processor -> where it is
    reasons: Mapping[str, PlacementReason] = field(default_factory=dict)  # task -> why it is on its processor
    counts: Mapping[str, int | None] = field(default_factory=dict)  # stream -> partitions it was made for
    settle: float = 0.0  # seconds after a growth for which producers may still use the old count
    turn: BoundedTurn | None = None  # of a batch app, or of tables that are inputs
    abandoned_stores: tuple[str, ...] = ()  # which no operator and no table of the app has any more

    @property
    def app(self) -> StreamApp:
        """The app."""
        return self.context.app

    def intermediate_streams(self) -> frozenset[str]:
        """The streams that the app makes between its own operators."""
        return frozenset(created_streams(self.app))

    def placed(
        self,
        locations: Mapping[str, str | None],
        previous: Mapping[str, str],
        store_locations: Mapping[str, str | None],
        stores: StorePositions,
    ) -> TaskPlacement | Refusal:
        """All tasks on processors at these locations, as few as can be away from their stores.

        `store_locations` are those where processors ran last, and `stores` all that tasks have anywhere.
        """
        affine = self.app.spec.placement.host_affinity
        state = {task: store_locations.get(owner) for task, owner in previous.items()}
        return place_tasks(
            self.assignment.tasks, state, locations, previous, stores=stores if affine else None
        )


def launch(
    context: AppContext,
    spark: SparkSource,
    processors: int,
    *,
    locality: LocalityMemory | None = None,
    fresh: bool = False,
) -> Launch:
    """Take over, plan, form tasks, compile, and make what is missing; AppRefusedError when it cannot run.

    `locality` is what is remembered of where tasks and processors were. A `fresh` start gives the state up.
    """
    app = context.app
    context.ledger.open(uuid4().hex, Ownership.of_run(app), StateReset.of_run(app, fresh=fresh))
    return first_launch(context, spark, processors, locality)


def first_launch(
    context: AppContext, spark: SparkSource, processors: int, locality: LocalityMemory | None = None
) -> Launch:
    """The first model of a driver that has taken over and is the author; AppRefusedError if there is none."""
    names = processor_names(processors)
    known = KnownPlacement()
    if locality is not None:
        remembered = locality.recall(context.ledger.run_id)
        known = KnownPlacement(
            model=remembered.model,
            owners=remembered.processors,
            task_locations=remembered.tasks,
            processor_locations=dict.fromkeys(names, locality.location),
        )
    draft = first_draft(context.app, live_inputs(context, names, context.now()), known)
    return prepare_launch(context, spark, draft)


def prepare_launch(
    context: AppContext, spark: SparkSource, draft: Draft, program: Program | None = None
) -> Launch:
    """A model made ready: streams and changelogs made, the layout written, before any lane runs under it.

    A `program` that was compiled for the same graph serves again.
    """
    app, systems, ledger = context.app, context.systems, context.ledger
    proposal, lanes = draft.proposal, draft.model.assignment()
    compiled = compile_app(app, proposal, spark, program)
    made = _make_streams(context, draft, compiled)
    ledger.remember(made.assignment.layout)
    ledger.expect(lanes)
    partitions = partitions_by_task(app, made.assignment, compiled.tasks)
    if app.spec.mode == "batch":
        turn: BoundedTurn | None = take_turn(ledger, input_ends(compiled.tasks, partitions, systems))
    else:
        turn = _table_ends(context, partitions)
    started_at = int(context.now() * 1000)
    time = timekeeping_of(app, compiled.program, partitions, ledger, turn, started_at)
    return Launch(
        context=context,
        proposal=proposal,
        assignment=made.assignment,
        program=compiled.program,
        setup=replace(made.setup, time=time),
        model=draft.model,
        lanes=lanes,
        partitions=partitions,
        streams=made.streams,
        read_order=read_order(app, proposal, compiled.tasks),
        shared=frozenset(made.assignment.broadcast),
        broadcasts=made.broadcasts,
        locations=draft.locations,
        reasons=draft.reasons,
        counts=_with_made(draft.counts, counts_of(app, systems)),
        settle=settle_seconds(app),
        turn=turn,
        abandoned_stores=made.abandoned_stores,
    )


def _table_ends(context: AppContext, partitions: Mapping[str, Sequence[Partition]]) -> BoundedTurn | None:
    """The ends of the tables that operators read, as they were imported; None where they read none."""
    tables, inputs = imported_tables(context.ledger), main_inputs(context.app)
    every = {p for parts in partitions.values() for p in parts if p.stream in inputs & tables.keys()}
    ends = {
        partition: min(tables[partition.stream].spans[partition.index].end, span.end)
        for partition, span in context.systems.spans(every).items()
    }
    return BoundedTurn(0, ends) if ends else None


def _first_positions(context: AppContext, starts: Mapping[Partition, int]) -> dict[Partition, int]:
    """The positions of streams that nobody has read: where the rows of their history say so, behind these."""
    tables, app = imported_tables(context.ledger), context.app
    histories = {one.name: tables[one.after] for one in app.spec.streams if one.after in tables}
    return {**starts} | {
        Partition(stream, index): offset
        for stream, table in histories.items()
        for index, offset in table.continues_at.items()
    }


@dataclass(frozen=True, slots=True)
class _MadeStreams:
    """The streams of a compiled app, all of them made, and the setup of workers that write them."""

    streams: frozenset[str]
    broadcasts: tuple[BroadcastTable, ...]
    assignment: Assignment  # with the layout of the streams as they are
    setup: WorkerSetup
    abandoned_stores: tuple[str, ...]


def _make_streams(context: AppContext, draft: Draft, compiled: CompiledApp) -> _MadeStreams:
    app, systems, ledger, proposal = context.app, context.systems, context.ledger, draft.proposal
    import_tables(app, systems, ledger, context.import_progressed)
    written_by = with_writer_schemas(app, compiled.tasks, compiled.format_options, systems)
    specs = store_specs(app, compiled.program)
    side_input_specs = side_input_store_specs(app, compiled.program)
    abandoned = take_state_schemas(app, ledger, {name: spec.schema for name, spec in specs.items()})
    streams = frozenset(declared_topics(app)) | read_streams(compiled.tasks)
    written = create_written_streams(app, proposal, compiled.tasks, systems)
    rejection = rejection_policies(app, systems)
    create_changelogs(specs.values(), draft.assignment.layout.changelog, systems)
    changelogs = [spec.changelog for spec in specs.values()]
    layout = replace(draft.assignment.layout, run=ledger.run_id)
    assignment = replace(draft.assignment, layout=verify_identities(context, streams, changelogs, layout))
    broadcasts = broadcast_tables_of(app, proposal, compiled.tasks)
    if not ledger.checkpoints:
        starts = latest_positions(app, assignment, broadcasts, systems)
        ledger.begin_at(_first_positions(context, starts))
    setup = replace(
        reading_setup(context, compiled, assignment, specs, side_input_specs),
        partitions=written,
        format_options=written_by,
        owned=OwnedStores(
            ledger.run_id,
            tasks=frozenset(assignment.layout.changelog),
            tables=frozenset(specs) | frozenset(side_input_specs),
            shared=frozenset(name for name, spec in side_input_specs.items() if spec.broadcast),
            embedded=isinstance(context.storage.systems.of_home, EmbeddedConnection),
        ),
        rejection=rejection,
        delivery=delivery_guarantee_of(app, specs.values()),
        remotes=remote_settings(app, compiled.program),
        late_rows=create_late_row_stream(app, systems),
        show_values=context.show_values,
    )
    return _MadeStreams(streams, broadcasts, assignment, setup, abandoned)


def reading_setup(
    context: AppContext,
    compiled: CompiledApp,
    assignment: Assignment,
    specs: Mapping[str, StoreSpec],
    side_input_specs: Mapping[str, SideInputStoreSpec],
) -> WorkerSetup:
    """The setup of a worker that reads records and keeps stores, and writes nothing to a stream."""
    ledger, storage = context.ledger, context.storage
    return WorkerSetup(
        application_id=context.app.application_id,
        run_id=ledger.run_id,
        systems=storage.systems,
        state=str(storage.state),
        checkpoints=ledger.stream,
        partitions={},
        store_specs=specs,
        side_input_specs=side_input_specs,
        rejection=uncollected_rejections(context.app),
        format_options=compiled.format_options,
        placements=key_placements(context.app, assignment),
        begins=_begins(specs.values(), ledger.starts),
        secret_sources=storage.secret_sources,
        logging=storage.logging,
    )


def _begins(specs: Iterable[StoreSpec], starts: Mapping[Partition, int]) -> dict[Partition, int]:
    """The offsets at which changelogs begin that hold entries of a run that was given up."""
    names = {spec.changelog for spec in specs}
    return {partition: at for partition, at in starts.items() if partition.stream in names}


def _with_made(before: Mapping[str, int | None], now: Mapping[str, int | None]) -> dict[str, int | None]:
    """The counts from which a model was made, and those of the streams that were made for it."""
    return {name: count if (known := before.get(name)) is None else known for name, count in now.items()}
