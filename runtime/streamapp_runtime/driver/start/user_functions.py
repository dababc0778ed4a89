"""An app's own functions, loaded and asked: how tasks are formed, streams expand, and where executors are."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from streamapp.author.proposal import PlanningInputs, Proposal, propose
from streamapp.placement.locations.location_id import UNKNOWN, LocationId
from streamapp.placement.locations.location_providers import (
    PodFacts,
    UserLocationProvider,
    user_location,
    user_provider_name,
)
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, modulo
from streamapp.tasks.groupers.grouper import UserGrouper
from streamapp.tasks.user_answers import AlgorithmRecorder, UserAnswers, answers_of, own_functions
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.operators.user_code.user_code_loader import (
    UserCodeError,
    load_user_code,
    user_code_guard,
)

T = TypeVar("T")

ANSWER_SECONDS: Final = 60.0
"""So long the app's functions may take to form all tasks, or to tell one location."""
GROUPER_PATH: Final = "spec.grouper"
ALGORITHM_PATH: Final = f"spec.config.{ALGORITHM}"
LOCATION_PATH: Final = "spec.placement.location"


@dataclass(frozen=True, slots=True)
class UserFunctions:
    """The functions that an app brings; what one returns is checked wherever it is called."""

    grouper: UserGrouper | None = None
    algorithm: ExpansionAlgorithm = modulo
    location: UserLocationProvider | None = None


def load_user_functions(app: StreamApp) -> UserFunctions:
    """The app's own functions; AppRefusedError with the field's path where one cannot be loaded."""
    functions, provider = own_functions(app), user_provider_name(app.spec.placement.location)
    return UserFunctions(
        None if functions.grouper is None else _load(GROUPER_PATH, functions.grouper),
        modulo if functions.algorithm is None else _load(ALGORITHM_PATH, functions.algorithm),
        None if provider is None else _load(LOCATION_PATH, provider),
    )


def _load(path: str, python: str) -> Any:
    """A function as it is; a class is made without arguments, and its object is called."""
    try:
        return _made(python)
    except UserCodeError as error:
        raise AppRefusedError([Problem(0, 0, path, str(error), error.reason)]) from error


def _made(python: str) -> Any:
    loaded = load_user_code(python)
    if not isinstance(loaded, type):
        return loaded
    with user_code_guard(python, "cannot be made", "give it an __init__ without arguments"):
        made: Any = loaded()
    if not callable(made):
        raise UserCodeError(python, "is a class whose objects cannot be called", "give it a __call__")
    return made


def proposed(app: StreamApp, inputs: PlanningInputs, seconds: float = ANSWER_SECONDS) -> Proposal:
    """The plan and the tasks; AppRefusedError where the app's own functions do not answer in time."""
    functions = own_functions(app)
    if not functions:
        return propose(app, inputs)
    proposal = _in_time(lambda: propose(app, inputs), seconds)
    if proposal is not None:
        return proposal
    path = ALGORITHM_PATH if functions.grouper is None else GROUPER_PATH
    names = " or ".join(name for name in (functions.grouper, functions.algorithm) if name)
    message = f"{names} did not answer within {seconds:g} s; have it return"
    raise AppRefusedError([Problem(0, 0, path, message, Reason.USER_CODE_FAILED)])


def proposed_with_answers(app: StreamApp, inputs: PlanningInputs) -> tuple[Proposal, UserAnswers | None]:
    """The plan and the tasks, and what the app's own functions answered; None where there are no tasks."""
    recorder = AlgorithmRecorder(inputs.algorithm)
    proposal = proposed(app, replace(inputs, algorithm=recorder.algorithm))
    assignment = proposal.assignment
    if assignment is None:
        return proposal, None
    return proposal, answers_of(own_functions(app), inputs.counts, assignment, recorder.initial_indexes)


def location_by(
    provider: UserLocationProvider, facts: PodFacts, seconds: float = ANSWER_SECONDS
) -> LocationId | Problem:
    """The location of a pod, or of this machine, by the app's provider; the problem where it gives none."""
    answer = _in_time(lambda: user_location(provider, facts), seconds)
    if isinstance(answer, LocationId):
        return answer
    text = f"did not answer within {seconds:g} s" if answer is None else answer.text
    message = f"asked for {facts.name}, the location provider {text}; have it return a text, or None"
    return Problem(0, 0, LOCATION_PATH, message, Reason.LOCATION_PROVIDER_INVALID)


@dataclass(slots=True)
class UserLocations:
    """An app's own location provider, asked for its executors' pods.

    At the start what it does not answer is a refusal. Later it is a warning: the location of that executor is
    unknown, and tasks stay where they are.
    """

    provider: UserLocationProvider
    starting: bool = True
    problems: tuple[Problem, ...] = ()
    _failed: set[str] = field(default_factory=set)  # uids of pods that are not asked about again

    def __call__(self, facts: PodFacts) -> LocationId:
        """The location of a pod."""
        if facts.uid in self._failed:
            return UNKNOWN
        location = location_by(self.provider, facts)
        if isinstance(location, LocationId):
            return location
        if self.starting:
            raise AppRefusedError([location])
        self._failed.add(facts.uid)
        self.problems = (*self.problems, location)
        return UNKNOWN


def _in_time(work: Callable[[], T], seconds: float) -> T | None:
    """The result of the work; None where that takes too long. It continues then: no thread can be ended."""
    results: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            results.put((work(), None))
        except BaseException as error:  # raised again where it is waited for
            results.put((None, error))

    Thread(target=run, name="streamapp-user-functions", daemon=True).start()
    try:
        result, error = results.get(timeout=seconds)
    except Empty:
        return None
    if error is not None:
        raise error
    return result
