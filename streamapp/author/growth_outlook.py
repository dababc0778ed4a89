"""The consequences of more partitions of a topic, by the rules by which a growth is judged."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from streamapp.author.monitoring import growth_interval
from streamapp.author.problems import proposal_problems
from streamapp.author.proposal import PlanningInputs, propose
from streamapp.author.task_inputs import read_streams
from streamapp.graph.join_groups import streams_before_state
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.partition import Partition
from streamapp.tasks.user_answers import own_functions

MOST_NAMED: Final = 4
"""So many of the new partitions are named with their tasks."""


@dataclass(frozen=True, slots=True)
class GrowthOutlook:
    """A stream with more partitions than it has."""

    stream: str
    before: int
    after: int
    refusal: str = ""  # why it cannot be, or cannot be said
    tasks_before: int = 0
    tasks_after: int = 0
    readers: Mapping[int, str] | None = None  # new partition -> the task that reads it; None: all tasks do
    new_tasks: frozenset[str] = frozenset()
    keys_tied: bool = False  # whether state depends on the stream's keys
    order_note: str = ""  # where the order of a key's records is not kept
    taken_up: str = ""  # how the app goes on

    @property
    def text(self) -> str:
        """The same as sentences."""
        if self.refusal:
            return f"With {self.after} partitions instead of {self.before}: {self.refusal}"
        tasks = (
            f"{self.tasks_after} tasks as before"
            if self.tasks_after == self.tasks_before
            else f"{self.tasks_after} tasks instead of {self.tasks_before}"
        )
        return (
            f"With {self.after} partitions instead of {self.before}: {tasks}{self.order_note}. "
            f"{self._readers_text()} {self.taken_up}"
        )

    def _readers_text(self) -> str:
        if self.readers is None:
            return "Every task reads the new partitions as well."
        first = islice(self.readers.items(), MOST_NAMED)
        named = [f"{self.stream}#{index} by {task}" for index, task in first]
        more = len(self.readers) - len(named)
        which = ", ".join(named) + (f", and {more} more" if more else "")
        if self.new_tasks:
            return f"The new partitions are read by {len(self.new_tasks)} new tasks without state: {which}."
        if self.keys_tied:
            return f"The new partitions are read by the tasks that hold the state of their keys: {which}."
        return f"The new partitions are read by tasks that are there: {which}."


def growth_outlook(
    app: StreamApp, inputs: PlanningInputs, assignment: Assignment, stream: str, after: int
) -> GrowthOutlook | None:
    """The outlook of one stream of an app with these tasks; None for a stream that no task reads.

    The app's own grouper and algorithm are not asked: their answers are for streams as they are.
    """
    before = inputs.counts.get(stream)
    if before is None or stream not in {one.name for one in app.spec.streams}:
        return None
    if functions := own_functions(app):
        names = " and ".join(name for name in (functions.grouper, functions.algorithm) if name)
        return GrowthOutlook(stream, before, after, f"{names} is asked once the stream has grown")
    grown = replace(inputs, counts={**inputs.counts, stream: after}, layout=assignment.layout)
    proposal = propose(app, grown)
    if stream not in read_streams(proposal.graph, proposal.plan):
        return None
    after_growth = proposal.assignment
    if after_growth is None:
        refusal = "; ".join(problem.message for problem in proposal_problems(app, proposal))
        return GrowthOutlook(stream, before, after, refusal)
    return GrowthOutlook(
        stream,
        before,
        after,
        tasks_before=len(assignment.tasks),
        tasks_after=len(after_growth.tasks),
        readers=_readers(after_growth, stream, range(before, after)) or None,
        new_tasks=frozenset(after_growth.tasks.keys() - assignment.tasks.keys()),
        keys_tied=stream in streams_before_state(proposal.graph),
        order_note=next((one.order_note for one in after_growth.grown if one.stream == stream), ""),
        taken_up=_taken_up(app),
    )


def _readers(assignment: Assignment, stream: str, indexes: range) -> dict[int, str]:
    task_of = {partition: task for task, partitions in assignment.tasks.items() for partition in partitions}
    return {index: task_of[one] for index in indexes if (one := Partition(stream, index)) in task_of}


def _taken_up(app: StreamApp) -> str:
    if growth_interval(app) is None:
        return "The app takes them up at its next start, since monitor.enabled is false."
    if app.spec.on_partition_change == "live":
        return "The app takes them up between two batches, without a restart (onPartitionChange: live)."
    return "The app restarts for it (onPartitionChange: restart)."
