"""The answers of an app's own grouper and expansion algorithm, for those who may not call them.

A driver forms tasks with the app's functions and writes down each answer. The operator, in whose process no
code of an app runs, forms tasks with these answers by the same rules, so that every contract is checked there
once more. A question that the driver was never asked has no answer: then the driver has to be asked first.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, modulo
from streamapp.tasks.groupers.grouper import BUILT_IN_GROUPERS, UserGrouper
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout import owners_of
from streamapp.tasks.partition import Partition

Growth = tuple[int, int]
"""The current and the initial partition count of a stream."""
NO_INDEX: Final = -1
"""In place of an answer that the contract forbids."""


@dataclass(frozen=True, slots=True)
class OwnFunctions:
    """The functions that an app names to form its tasks, as references; None where it names none."""

    grouper: str | None = None
    algorithm: str | None = None

    def __bool__(self) -> bool:
        return self.grouper is not None or self.algorithm is not None


def own_functions(app: StreamApp) -> OwnFunctions:
    """The functions of an app's own that form its tasks."""
    grouper = app.spec.grouper
    return OwnFunctions(None if grouper in BUILT_IN_GROUPERS else grouper, app.spec.config.get(ALGORITHM))


@dataclass(frozen=True, slots=True)
class UserAnswers:
    """The answers by which tasks were formed, and the partition counts that they are for."""

    functions: OwnFunctions = OwnFunctions()
    counts: Mapping[str, int] = field(default_factory=dict)  # by stream, of those that were there
    tasks: Mapping[Partition, str] = field(default_factory=dict)  # by the grouper
    initial_indexes: Mapping[Growth, Mapping[int, int]] = field(default_factory=dict)  # by the algorithm


@dataclass(slots=True)
class AlgorithmRecorder:
    """An app's own expansion algorithm, and what it answered."""

    user_algorithm: ExpansionAlgorithm
    initial_indexes: dict[Growth, dict[int, int]] = field(default_factory=dict)

    @property
    def algorithm(self) -> ExpansionAlgorithm:
        """The algorithm, whose answers are recorded; the product's own are known everywhere."""
        return modulo if self.user_algorithm is modulo else self._initial_index

    def _initial_index(self, index: int, current_count: int, initial_count: int, /) -> int:
        indexes = self.initial_indexes.setdefault((current_count, initial_count), {})
        indexes[index] = NO_INDEX
        answer = self.user_algorithm(index, current_count, initial_count)
        if type(answer) is int and 0 <= answer < initial_count:
            indexes[index] = answer
        return answer


def answers_of(
    functions: OwnFunctions,
    counts: Mapping[str, int | None],
    assignment: Assignment,
    initial_indexes: Mapping[Growth, Mapping[int, int]],
) -> UserAnswers:
    """The answers that lead to these tasks again."""
    tasks: dict[Partition, str] = {}
    if functions.grouper is not None:
        tasks = dict(owners_of(assignment.layout.streams))
        tasks |= {
            partition: task for task, partitions in assignment.tasks.items() for partition in partitions
        }
    return UserAnswers(functions, known_counts(counts), tasks, initial_indexes)


def known_counts(counts: Mapping[str, int | None]) -> dict[str, int]:
    """The counts of the streams that are there."""
    return {stream: count for stream, count in counts.items() if count is not None}


@dataclass(slots=True)
class AnswerReplay:
    """Functions that repeat recorded answers, and whether one was asked for what nobody has answered."""

    answers: UserAnswers
    unanswered: bool = False

    @property
    def grouper(self) -> UserGrouper | None:
        """A grouper that answers as the app's did; None where the app has none."""
        return None if self.answers.functions.grouper is None else self._group

    @property
    def algorithm(self) -> ExpansionAlgorithm:
        """An algorithm that answers as the app's did."""
        return modulo if self.answers.functions.algorithm is None else self._initial_index

    def _group(
        self, _previous: Mapping[Partition, str], partitions: Sequence[Partition], /
    ) -> Mapping[str, Collection[Partition]]:
        tasks: dict[str, list[Partition]] = {}
        for partition in partitions:
            task = self.answers.tasks.get(partition)
            if task is None:
                self.unanswered = True
            else:
                tasks.setdefault(task, []).append(partition)
        return tasks

    def _initial_index(self, index: int, current_count: int, initial_count: int, /) -> int:
        answer = self.answers.initial_indexes.get((current_count, initial_count), {}).get(index)
        if answer is None:
            self.unanswered = True
            return NO_INDEX
        return answer


def replay_of(app: StreamApp, answers: UserAnswers | None) -> AnswerReplay:
    """The answers as far as they are of the functions that this app names."""
    functions = own_functions(app)
    if answers is None or answers.functions != functions:
        return AnswerReplay(UserAnswers(functions))
    return AnswerReplay(answers)


def answered_counts(counts: Mapping[str, int | None], answers: UserAnswers) -> dict[str, int | None]:
    """The counts to form tasks for: partitions that came after the answers wait until the driver asks."""
    return {
        stream: min(count, answers.counts.get(stream, count)) if count is not None else None
        for stream, count in counts.items()
    }
