"""The reaction of the driver to each status that a lane reports for a task: one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from streamapp_runtime.lanes.protocol.rejections import RejectionCause
from streamapp_runtime.lanes.protocol.task_status import TaskStatus


class Reaction(StrEnum):
    """The action of the driver after a batch in which a task reported a status."""

    CONTINUE = "continues"
    WAIT = "gives the task its rows again after a while"
    BIND_AGAIN = "binds lanes to executors again"
    RECOVER = "fences and recovers"
    OUTLAST = "fences and recovers, for as long as an outage may last"
    END = "ends the run, which may be started again"
    END_FOR_GOOD = "ends the run for good"


class TrialVerdict(StrEnum):
    """The verdict of a status on the records of a trial, in a search for a bad one."""

    INNOCENT = "the records are not to blame"
    FAILS = "the batch fails on them"
    UNPROVED = "nothing is proved"
    UNPROVED_OUTAGE = "nothing is proved, and what is away may come back"


@dataclass(frozen=True, slots=True)
class StatusRule:
    """One row of the table."""

    reaction: Reaction
    verdict: TrialVerdict = TrialVerdict.INNOCENT
    sentence: str = ""  # what a run that ends for good says
    of_lane: bool = False  # whether its lane alone can start again, where lanes do not wait for each other

    def __post_init__(self) -> None:
        if (self.reaction is Reaction.END_FOR_GOOD) != bool(self.sentence):
            raise TypeError("a run that ends for good says why, and no other")


_ROWS: Final = {
    TaskStatus.COMMITTED: StatusRule(Reaction.CONTINUE),
    TaskStatus.TRIED: StatusRule(Reaction.CONTINUE),
    TaskStatus.RESTORING: StatusRule(Reaction.CONTINUE, TrialVerdict.UNPROVED),
    TaskStatus.MISPLACED: StatusRule(Reaction.BIND_AGAIN, TrialVerdict.UNPROVED),
    TaskStatus.BAD: StatusRule(Reaction.END_FOR_GOOD, sentence="a record cannot be processed"),
    TaskStatus.EXCESS: StatusRule(
        Reaction.END_FOR_GOOD, sentence="more records would be left out than the app allows"
    ),
    TaskStatus.EXPRESSION: StatusRule(Reaction.RECOVER, TrialVerdict.FAILS),
    TaskStatus.CODE: StatusRule(Reaction.RECOVER, TrialVerdict.FAILS),
    TaskStatus.WAITING: StatusRule(Reaction.WAIT, TrialVerdict.UNPROVED_OUTAGE),
    TaskStatus.AWAY: StatusRule(Reaction.END, TrialVerdict.UNPROVED_OUTAGE),
    TaskStatus.UNAVAILABLE: StatusRule(Reaction.OUTLAST, TrialVerdict.UNPROVED_OUTAGE),
    TaskStatus.DENIED: StatusRule(Reaction.RECOVER, TrialVerdict.UNPROVED),
    TaskStatus.FULL: StatusRule(Reaction.RECOVER, TrialVerdict.UNPROVED),
    TaskStatus.FENCED: StatusRule(Reaction.RECOVER, TrialVerdict.UNPROVED),
    TaskStatus.REFUSED: StatusRule(
        Reaction.END_FOR_GOOD, sentence="the streams' system does not take what is to be written"
    ),
    # The next look says what is lost, and whether the app may go on without it.
    TaskStatus.GONE: StatusRule(Reaction.RECOVER, TrialVerdict.UNPROVED),
    TaskStatus.MISSING: StatusRule(Reaction.END_FOR_GOOD, sentence="a stream of the app no longer exists"),
    TaskStatus.UNREADABLE: StatusRule(
        Reaction.END_FOR_GOOD, sentence="what the app left with its streams cannot be read"
    ),
    TaskStatus.BUSY: StatusRule(Reaction.RECOVER, TrialVerdict.UNPROVED, of_lane=True),
    TaskStatus.STORE: StatusRule(Reaction.RECOVER, TrialVerdict.UNPROVED, of_lane=True),
}


def complete_rules(rows: Mapping[TaskStatus, StatusRule]) -> Mapping[TaskStatus, StatusRule]:
    """The table, which has a row for every status; TypeError where one is missing."""
    if missing := [status for status in TaskStatus if status not in rows]:
        raise TypeError(f"no rule for {', '.join(missing)}")
    return MappingProxyType({status: rows[status] for status in TaskStatus})


STATUS_RULES: Final = complete_rules(_ROWS)
"""By status, what the driver does."""


CAUSES: Final[Mapping[TaskStatus, RejectionCause]] = {TaskStatus.CODE: RejectionCause.CODE}
"""What is at fault where a task reports this status of a single record; where nothing is said, the record."""

SHOWN_STATUSES: Final = frozenset(TaskStatus) - {
    TaskStatus.BAD,
    TaskStatus.EXCESS,
    TaskStatus.EXPRESSION,
    TaskStatus.CODE,
    TaskStatus.REFUSED,
    TaskStatus.WAITING,
    TaskStatus.AWAY,
}
"""Those whose messages are of systems and stores. The messages of all others may repeat what records hold."""


def reaction_to(status: TaskStatus) -> Reaction:
    """The reaction of the driver to a status."""
    return STATUS_RULES[status].reaction


def is_of_lane_alone(status: TaskStatus) -> bool:
    """True if what happened to a task concerns its lane alone, so that the others can go on."""
    return STATUS_RULES[status].of_lane


def is_fine(status: TaskStatus) -> bool:
    """True if a task did in its batch what it was to do."""
    return reaction_to(status) is Reaction.CONTINUE
