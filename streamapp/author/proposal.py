"""One proposal: the plan for an app by the inputs of today, and the tasks that would follow from it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from streamapp.author.app_streams import (
    imports,
    missing_streams_by_system,
    table_partitions,
    with_partitions_to_say,
)
from streamapp.author.app_warnings import app_warnings
from streamapp.author.key_reliance import key_form_errors, partitioner_errors
from streamapp.author.task_inputs import broadcast_inputs, keeps_state, read_streams
from streamapp.columns.app_columns import misplaced_side_inputs
from streamapp.graph.graph_builder import build_graph
from streamapp.graph.join_groups import streams_before_state
from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Mode, Plan, PlanError, PlanOutcome
from streamapp.plan.planner import plan
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, modulo
from streamapp.tasks.expansion.planned_counts import planned_counts
from streamapp.tasks.groupers.grouper import SINGLE_TASK, Grouper, UserGrouper
from streamapp.tasks.groupers.grouping_request import Assignment, GroupingRequest
from streamapp.tasks.groupers.task_grouping import group_tasks
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.refusal import Refusal

_OPERATOR: Final = re.compile(r"spec\.operators\[(\d+)\]")


def rejected_for(app: StreamApp, planned: Plan, problems: Iterable[Problem]) -> Plan:
    """The plan with these problems among its errors, each at the operator that it is about."""
    errors = []
    for problem in problems:
        match = _OPERATOR.match(problem.path)
        operator = app.spec.operators[int(match[1])].name if match else None
        errors.append(PlanError(problem.reason, operator, (), problem.message, "", path=problem.path))
    return replace(planned, errors=(*planned.errors, *errors))


def plan_notes(app: StreamApp) -> Iterator[str]:
    """Everything worth a note, in a fixed order."""
    yield from _idle_processors(app)
    yield from _feedback(app)
    yield from map(str, app_warnings(app))


def _idle_processors(app: StreamApp) -> Iterator[str]:
    surplus = app.spec.processors - 1
    if app.spec.grouper == SINGLE_TASK.name and surplus:
        idle = "the other is idle" if surplus == 1 else f"the other {surplus} are idle"
        yield (
            f"grouper {SINGLE_TASK.name} forms one task that reads everything: one of the "
            f"{app.spec.processors} processors runs it, and {idle}"
        )


def _feedback(app: StreamApp) -> Iterator[str]:
    for stream in app.spec.streams:
        if stream.feedback:
            yield (
                f"stream {stream.name} is feedback: what the app writes to it comes back until an operator "
                "drops it; it holds no watermark back, and a batch app reads in its next turn what it wrote "
                "in this one"
            )


@dataclass(frozen=True, slots=True)
class PlanningInputs:
    """The facts outside the app: today's counts, what is remembered, and the user's own functions."""

    counts: Mapping[str, int | None]
    layout: Layout | None = None
    run: str = ""
    now: float = 0.0
    processors: tuple[str, ...] | None = None  # those that are to run the tasks
    algorithm: ExpansionAlgorithm = modulo
    grouper: UserGrouper | None = None
    counted_by: Mapping[str, str] = field(default_factory=dict)  # what a count comes from, if not a system
    asked: frozenset[str] = frozenset()  # the streams that their systems were asked for

    def before_growth(self) -> "PlanningInputs":
        """The inputs with the counts that the layout saw last: partitions that came since are left out."""
        known = self.layout.streams if self.layout else {}
        counts = {
            name: min(count, known[name].last) if count is not None and name in known else count
            for name, count in self.counts.items()
        }
        return replace(self, counts=counts)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A plan, and where it is accepted the tasks or why there are none."""

    graph: Graph
    plan: Plan
    tasks: Assignment | Refusal | None

    @property
    def assignment(self) -> Assignment | None:
        """The tasks, where there are any."""
        return self.tasks if isinstance(self.tasks, Assignment) else None


def propose(app: StreamApp, inputs: PlanningInputs) -> Proposal:
    """Plan with the counts that the state was laid out for, then form tasks with the counts of today."""
    counted_by = {**inputs.counted_by, **dict.fromkeys(imports(app), "the resource")}
    inputs = replace(inputs, counts={**inputs.counts, **table_partitions(app)}, counted_by=counted_by)
    graph = build_graph(app, inputs.counts, inputs.counted_by)
    planned = plan(graph, config=app.spec.config, mode=Mode(app.spec.mode))
    without_state = frozenset(planned.streams) - streams_before_state(graph)
    if inputs.layout and not planned.exceeds_bound:
        today = {name: count for name, count in inputs.counts.items() if count is not None}
        groups = [join.streams for join in planned.joins]
        planned_of = planned_counts(inputs.layout, today, groups, inputs.algorithm, without_state)
        counts = {**inputs.counts, **planned_of}
        graph = build_graph(app, counts, inputs.counted_by)
        planned = plan(graph, config=app.spec.config, mode=Mode(app.spec.mode))
    planned = missing_streams_by_system(app, replace(planned, notes=tuple(plan_notes(app))), inputs.asked)
    planned = with_partitions_to_say(app, planned)
    if app.spec.grouper != SINGLE_TASK.name:
        counts_of = {name: stream.partitions for name, stream in planned.streams.items()}
        planned = rejected_for(app, planned, misplaced_side_inputs(app, counts_of))
        key_errors = (*partitioner_errors(app, planned), *key_form_errors(app, graph, planned))
        planned = replace(planned, errors=(*planned.errors, *key_errors))
    if planned.outcome is PlanOutcome.REJECTED:
        return Proposal(graph, planned, None)
    return Proposal(graph, planned, group_tasks(_request(app, inputs, graph, planned, without_state)))


def _request(
    app: StreamApp, inputs: PlanningInputs, graph: Graph, planned: Plan, without_state: frozenset[str]
) -> GroupingRequest:
    counts = {
        name: inputs.counts.get(name) or planned.streams[name].partitions or 0
        for name in read_streams(graph, planned)
    }
    return GroupingRequest(
        streams={name: range(count) for name, count in counts.items()},
        grouper=Grouper(app.spec.grouper, inputs.grouper),
        stateful=keeps_state(app, graph),
        broadcast=broadcast_inputs(app, planned),
        copartition_groups=[join.streams for join in planned.joins],
        without_state=without_state,
        algorithm=inputs.algorithm,
        layout=inputs.layout,
        run=inputs.run,
        now=inputs.now,
    )
