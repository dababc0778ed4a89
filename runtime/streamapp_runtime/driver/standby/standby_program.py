"""The program of a driver that stands by. Nothing is created for it, and nothing taken over."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from streamapp.author.problems import proposal_problems
from streamapp.author.proposal import Proposal
from streamapp.jobmodel.job_model import JobModel
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.tables import Table
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp_runtime.driver.imports.imported_table import pending_imports
from streamapp_runtime.driver.start.app_compilation import CompiledApp, compile_app
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.launch import reading_setup
from streamapp_runtime.driver.start.live_inputs import live_inputs
from streamapp_runtime.driver.start.task_reads import side_partitions_by_task
from streamapp_runtime.driver.start.user_functions import proposed
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.lanes.batches.standby_lane import StandbySetup, filling_program
from streamapp_runtime.lanes.protocol.batch_orders import SidePartition, TaskOrder
from streamapp_runtime.lanes.task_stores.side_input_specs import side_input_store_specs
from streamapp_runtime.lanes.task_stores.store_specs import store_specs
from streamapp_runtime.program.program import Program
from streamapp_runtime.stores.store import StoreKind


@dataclass(frozen=True, slots=True)
class StandbyProgram:
    """A plan and its program, which serves a launch of the same plan."""

    proposal: Proposal
    assignment: Assignment
    compiled: CompiledApp

    @property
    def program(self) -> Program:
        """The program."""
        return self.compiled.program

    def setup(self, context: AppContext) -> StandbySetup:
        """The setup of lanes that restore stores: by the checkpoint stream as it was looked at last."""
        app = context.app
        specs = {
            name: spec
            for name, spec in store_specs(app, self.program).items()
            if spec.changelog is not None and spec.kind is not StoreKind.MEMORY
        }
        pending = pending_imports(context.systems.connections, context.ledger)
        filled = {table.name for table in app.spec.tables if _is_filled_early(app, table, pending)}
        side_specs = side_input_store_specs(app, self.program)
        early_specs = {name: spec for name, spec in side_specs.items() if name in filled}
        setup = reading_setup(context, self.compiled, self.assignment, specs, early_specs)
        initial = {name: stream.initial for name, stream in self.assignment.layout.streams.items()}
        return StandbySetup(filling_program(self.program.for_workers, filled), setup, initial)

    def lanes(self, context: AppContext, model: JobModel) -> dict[str, list[TaskOrder]]:
        """The tasks of each processor of a model, with their checkpoints and what fills their tables."""
        sides = side_partitions_by_task(context.app, self.assignment, self.compiled.tasks)
        checkpoints, changelogs = context.ledger.checkpoints, self.assignment.layout.changelog
        return {
            processor: [
                TaskOrder(
                    task,
                    changelogs[task],
                    checkpoints.get(task, ""),
                    side_inputs=tuple(SidePartition(p.stream, p.index) for p in sides.get(task, ())),
                )
                for task in tasks
                if task in changelogs
            ]
            for processor, tasks in model.assignment().items()
        }


def standby_program(
    context: AppContext, spark: SparkSource, processors: Sequence[str]
) -> StandbyProgram | None:
    """The program for the streams of today; AppRefusedError where the app has none.

    None where there are no tasks: the model of the operator may have them, and a start says why not.
    """
    proposal = proposed(context.app, live_inputs(context, tuple(processors), context.now()))
    if proposal.assignment is None or proposal_problems(context.app, proposal):
        return None
    return StandbyProgram(proposal, proposal.assignment, compile_app(context.app, proposal, spark))


def _is_filled_early(app: StreamApp, table: Table, pending: Collection[str]) -> bool:
    """True if a table of each task is filled from the whole of its streams, with rows as they come.

    Tables for all tasks, and those whose rows come as versions, are made by batches of all lanes. Rows of an
    import that is not complete may be none of the table's.
    """
    sides = [] if any(side.stream in pending for side in table.side_inputs) else table.side_inputs
    is_simple = not table.broadcast and not app.spec.in_versions(table) and table.store != "memory"
    return is_simple and bool(sides) and all(side.bootstrap and side.python is None for side in sides)
