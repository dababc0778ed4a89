"""Takes a model that the operator made, holds it against the layout kept with the state, and prepares it."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from streamapp.author.model import KnownPlacement
from streamapp.author.problems import proposal_problems
from streamapp.author.proposal import Proposal
from streamapp.jobmodel.job_model import JobModel
from streamapp.placement.placement_reason import PlacementReason
from streamapp.placement.task_placement import PriorLocality
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.reasons import Reason
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_conflict import layout_conflict
from streamapp.tasks.layouts.layout_merge import merged_layout
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.draft import Draft
from streamapp_runtime.driver.start.launch import Launch, prepare_launch
from streamapp_runtime.driver.start.live_inputs import live_inputs
from streamapp_runtime.driver.start.user_functions import proposed
from streamapp_runtime.expressions.spark_source import SparkSource
from streamapp_runtime.program.program import Program


class PlannedProgram(Protocol):
    """A program that was compiled, and for which plan."""

    @property
    def proposal(self) -> Proposal:
        """The plan, and the tasks."""

    @property
    def program(self) -> Program:
        """The program."""


def launch_wanted(
    context: AppContext,
    spark: SparkSource,
    wanted: WantedState,
    model: JobModel,
    before: PlannedProgram | None = None,
    known: KnownPlacement | None = None,
) -> Launch | Refusal:
    """The model ready to run, or why it cannot be taken: then the one that runs continues.

    AppRefusedError where an input does not exist: the operator saw it, and it is gone since.
    The program of `before` serves again where the plan is the same.
    `known` is the placement that the model ends, as the driver knows it: the page says by it why tasks moved.
    """
    assignment = wanted_assignment(context, wanted, model)
    if isinstance(assignment, Refusal):
        return assignment
    inputs = replace(live_inputs(context, model.processors, time.time()), layout=assignment.layout)
    proposal = proposed(context.app, inputs)
    problems = proposal_problems(context.app, proposal)
    if missing := [problem for problem in problems if problem.reason is Reason.MISSING_STREAM]:
        raise AppRefusedError(missing, proposal)
    planned = before.proposal if before else None
    same = planned is not None and (proposal.graph, proposal.plan) == (planned.graph, planned.plan)
    program = before.program if before and same else None
    locations = {name: wanted.locations.get(name) for name in model.processors}
    reasons = placement_reasons(model, locations, known) if known else {}
    draft = Draft(proposal, assignment, inputs.counts, model, locations, reasons)
    return prepare_launch(context, spark, draft, program)


def placement_reasons(
    model: JobModel, locations: Mapping[str, str | None], known: KnownPlacement
) -> dict[str, PlacementReason]:
    """Why the operator has placed each task where it is, by the facts that both of them know."""
    prior = PriorLocality(known.task_locations, locations, known.owners, known.stores)
    return prior.reasons({task.name: model.owner(task.name) for task in model.tasks})


def wanted_assignment(context: AppContext, wanted: WantedState, model: JobModel) -> Assignment | Refusal:
    """The owners of partitions by this model, with the layout to keep from now on."""
    ledger = context.ledger
    if model.run_id != ledger.run_id:
        return Refusal(
            Reason.LAYOUT_CONFLICT,
            "jobModel",
            f"the model is of run {model.run_id} and the state of run {ledger.run_id}",
            "make one for the layout that the driver reports",
        )
    tasks = {task.name: task.partitions for task in model.tasks}
    layout = wanted.layout or ledger.layout or Layout(model.run_id, context.app.spec.grouper)
    layout = replace(layout, run=model.run_id)
    conflict = layout_conflict(ledger.layout, layout, tasks, model.broadcast)
    if conflict is not None:
        return conflict
    merged = layout if ledger.layout is None else merged_layout(ledger.layout, layout)
    return Assignment(tasks, model.broadcast, merged)
