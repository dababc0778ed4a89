"""Judges affinity.json: places tasks step by step, each from where the last step left them, and compares."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamapp.jobmodel.job_model import InvalidJobModelError, JobModel
from streamapp.placement.locations.location_id import same_location
from streamapp.placement.locations.task_locality import TaskLocality
from streamapp.placement.movement import movement
from streamapp.placement.placer import place_tasks
from streamapp.placement.standby import place_standbys
from streamapp.placement.task_placement import TaskPlacement
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal
from tests.vectors.fields import PROSE, Fields
from tests.vectors.wording import unnamed

RECIPES = (
    "tests/streamapp/placement/test_locality_optimum.py",
    "tests/streamapp/placement/test_placement_stability.py",
)

_SETTINGS = {"tasks", "task_locality", "processor_locality", "previous", "capacity", "replication_factor"}
_NAMING = {"container_count", "processor_order", "processors"}
"""Other ways to say which processors there are."""
_BOUNDS = {"max_location_moves", "max_processor_moves", "max_load", "min_load"}
"""Invariants that steps give without saying that they are."""
_OF_PLACEMENTS = {
    *("invariants", "exact", "exact_subset", "loads", "loads_sorted", "forbidden", "idle", "not_restarted"),
    *("repeat", "permutation_invariant", "then_repeat_is_identity", "standby", "note", *_BOUNDS),
}
"""What is expected of a placement, and of no refusal."""
_NOT_BINDING = {"exact_samza"}
_NO_LOCALITY = "result must equal the result with empty task_locality"
_LEFT_BY_THE_STEP_BEFORE = "updated by step 1 (last location where each task ran)"
_REASONS = {reason.name: reason for reason in Reason}


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of `place`, after it was settled which of the locality counts."""

    tasks: tuple[str, ...]
    processors: Mapping[str, str | None]
    locality: TaskLocality
    capacity: Mapping[str, int] | None

    def answer(self) -> TaskPlacement | Refusal:
        return place_tasks(
            self.tasks,
            self.locality.locations,
            self.processors,
            self.locality.processors,
            capacity=self.capacity,
        )

    def turned_round(self) -> "_Question":
        """The same with everything in the opposite order."""
        locality = self.locality
        return _Question(
            self.tasks[::-1],
            _turned(self.processors),
            TaskLocality(locality.run_id, _turned(locality.locations), _turned(locality.processors)),
            _turned(self.capacity) if self.capacity else None,
        )

    def after(self, placement: TaskPlacement) -> "_Question":
        """The same, asked again when the tasks are where the answer put them."""
        processors = placement.processor_of
        locations = {task: self.processors[name] for task, name in processors.items()}
        locality = TaskLocality(self.locality.run_id, locations, processors)
        return _Question(self.tasks, self.processors, locality, self.capacity)


def run(vector: Fields) -> list[str]:
    settings: dict[str, Any] = {}
    differences: list[str] = []
    expected: set[str] = set()
    for number, (stage, expect) in enumerate(_stages(vector)):
        expected |= expect.keys()
        unread = stage.keys() - _SETTINGS - _NAMING - PROSE - {"expect", "steps"}
        found = [
            f"there is no rule for the field {name}" for name in sorted(unread) if not name.endswith("run_id")
        ]
        stage.excuse(*(stage.keys() - {"expect", "steps"}))  # what there is no rule for is named above
        stated = {name: stage[name] for name in stage if name not in {"expect", "steps"}}
        if stated.get("task_locality") == _LEFT_BY_THE_STEP_BEFORE:  # which is what the settings hold
            del stated["task_locality"]
        settings |= stated
        names = settings.get("processors") or ()
        if len(set(names)) < len(names):
            found += _registered_twice(names, expect)
            differences += [f"stage {number}: {text}" for text in found]
            continue
        question = _question(settings)
        answer = question.answer()
        found += _differences(expect, question, answer, settings)
        differences += [f"stage {number}: {text}" for text in found]
        if isinstance(answer, TaskPlacement):
            left = question.after(answer).locality
            settings |= {"task_locality": left.locations, "previous": left.processors}
            settings = {name: value for name, value in settings.items() if not name.endswith("run_id")}
            settings |= {"run_id": left.run_id, "recorded_run_id": left.run_id}
    if "replication_factor" in settings and "standby" not in expected:
        differences.append("replication_factor counts for standby tasks, of which nothing is expected")
    return differences


def _registered_twice(processors: Sequence[str], expect: Fields) -> Iterator[str]:
    """`place` takes a mapping, in which nobody can be twice; who gets past that is stopped by the model."""
    try:
        JobModel(1, "run", "app", (), tuple(processors), ())
    except InvalidJobModelError as error:
        if expect["outcome"] != "rejected":
            yield f"rejected: {error}"
        repeated = {name for name in processors if processors.count(name) > 1}
        yield from unnamed(sorted(repeated), str(error))
        yield from unnamed(expect.get("message_must_name", ()), str(error), processors)
    else:
        yield f"{processors} make a job model"


def _stages(vector: Fields) -> Iterator[tuple[Fields, Fields]]:
    """The vector, then its steps. If no step expects anything the last has to meet the vector's `expect`."""
    steps = vector.get("steps") or []
    nothing = Fields({})
    own = vector.get("expect", nothing)
    if steps and not any("expect" in step for step in steps):
        yield vector, nothing
        yield from ((step, nothing) for step in steps[:-1])
        yield steps[-1], own
        return
    before = vector.get("previous") or vector.get("task_locality")
    if not steps or own or not before:
        yield vector, own
        yield from ((step, step.get("expect", nothing)) for step in steps)
    else:
        yield steps[0].over(vector), steps[0].get("expect", nothing)
        yield from ((step, step.get("expect", nothing)) for step in steps[1:])


def _question(settings: Mapping[str, Any]) -> _Question:
    recorded, current = _runs(settings)
    locality = TaskLocality(recorded, settings.get("task_locality") or {}, settings.get("previous") or {})
    return _Question(
        tuple(settings["tasks"]),
        _processors(settings),
        locality.within(current),
        settings.get("capacity"),
    )


def _processors(settings: Mapping[str, Any]) -> Mapping[str, str | None]:
    """In the order that is given, which may not matter; as many as are counted where none is named."""
    known = settings.get("processor_locality") or {}
    counted = map(str, range(settings.get("container_count") or 0))
    names = settings.get("processor_order") or settings.get("processors") or [*known] or [*counted]
    return {name: known.get(name) for name in names}


def _runs(settings: Mapping[str, Any]) -> tuple[str, str]:
    """The run that the locality was recorded in, and the one that asks: two fields, or one with both."""
    current = settings.get("run_id")
    if isinstance(current, Mapping):
        values = [str(value) for value in current.values()]
        return values[0], values[-1]
    if isinstance(current, list):
        return str(current[0]), str(current[-1])
    other = [value for name, value in settings.items() if name.endswith("run_id") and name != "run_id"]
    recorded = other[-1] if other else current
    return str(recorded), str(current)


def _turned(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return dict(reversed(list(mapping.items())))


def _differences(
    expect: Fields, question: _Question, answer: TaskPlacement | Refusal, settings: Mapping[str, Any]
) -> Iterator[str]:
    outcome = "rejected" if isinstance(answer, Refusal) else "ok"
    if outcome not in (expect.get("outcome", "ok"), expect.get("alternative")):
        yield f"{outcome}: {answer}"
    elif isinstance(answer, Refusal):
        if "error" in expect and answer.reason is not _REASONS.get(expect["error"]):
            yield f"refused for {answer.reason}, not for {expect['error']}"
        message = f"{answer.path}: {answer.message}; {answer.hint}"
        yield from unnamed(
            expect.get("message_must_name", ()), message, {*question.tasks, *question.processors}
        )
        if expect.get("outcome", "ok") != "rejected":  # a refusal is the alternative to all of the rest
            expect.excuse(*_OF_PLACEMENTS)
    else:
        yield from _placed_otherwise(expect, question, answer)
        yield from _unsteady(expect, question, answer)
        if "standby" in expect:
            replicas = int(settings.get("replication_factor", 1)) - 1
            yield from _differ("standby", expect["standby"], _standby(question, answer, replicas))
        if expect.get("note") == _NO_LOCALITY:
            locality = TaskLocality(question.locality.run_id)
            without = _Question(question.tasks, question.processors, locality, question.capacity)
            if without.answer() != answer:
                yield "without locality it answers otherwise"
        elif "note" in expect:
            yield f"there is no rule for the note {expect['note']}"
        bounds = {name: expect[name] for name in expect.keys() & _BOUNDS}
        yield from _outside_bounds(bounds, question, answer)
        if expect.get("outcome", "ok") != "ok":  # the placement is the alternative to a refusal
            expect.excuse("error", "message_must_name")
        expect.excuse(*(expect.keys() & _NOT_BINDING))


def _placed_otherwise(expect: Fields, question: _Question, answer: TaskPlacement) -> Iterator[str]:
    owner = answer.processor_of
    if "exact" in expect:
        yield from _differ("exact", expect["exact"], dict(owner))
    subset = expect.get("exact_subset", {})
    yield from _differ("exact_subset", subset, {task: owner.get(task) for task in subset})
    loads = Counter(owner.values())
    wanted = expect.get("loads", {})
    yield from _differ("loads", wanted, {name: loads[name] for name in wanted})
    if "loads_sorted" in expect:
        every = sorted(loads[name] for name in question.processors)
        yield from _differ("loads_sorted", sorted(expect["loads_sorted"]), every)
    if "idle" in expect:
        yield from _differ("idle", sorted(expect["idle"]), list(answer.idle))
    for name, tasks in expect.get("forbidden", {}).items():
        yield from (f"{name} got {task}" for task in tasks if owner[task] == name)
    if "not_restarted" in expect:
        untouched = movement(question.locality.processors, owner).untouched
        yield from (f"{name} is restarted" for name in expect["not_restarted"] if name not in untouched)
    yield from _outside_bounds(expect.get("invariants", {}), question, answer)


def _outside_bounds(
    invariants: Mapping[str, Any], question: _Question, answer: TaskPlacement
) -> Iterator[str]:
    measured = _measured(question, answer)
    for name, bound in invariants.items():
        if name not in measured:
            yield f"there is no rule for invariants.{name}"
        elif not _within(name, bound, measured[name]):
            yield f"{name} is {bound}, found {measured[name]}"


def _within(name: str, bound: int, found: int) -> bool:
    if name.startswith("max_"):
        return found <= bound
    return found >= bound if name.startswith("min_") else found == bound


def _measured(question: _Question, answer: TaskPlacement) -> dict[str, int]:
    """Counted here from the map alone, not taken from the answer's own counts."""
    owner, locality = answer.processor_of, question.locality
    loads = Counter(owner.values())
    located = [task for task in owner if locality.locations.get(task)]
    had = [task for task in owner if locality.processors.get(task)]
    at_home = sum(
        same_location(locality.locations[task], question.processors[owner[task]]) for task in located
    )
    with_owner = sum(locality.processors[task] == owner[task] for task in had)
    return {
        "complete": set(owner) == set(question.tasks) and set(loads) <= set(question.processors),
        "min_load": min(loads[name] for name in question.processors),
        "max_load": max(loads[name] for name in question.processors),
        "min_tasks_on_previous_location": at_home,
        "max_location_moves": len(located) - at_home,
        "min_tasks_on_previous_processor": with_owner,
        "max_processor_moves": len(had) - with_owner,
    }


def _unsteady(expect: Fields, question: _Question, answer: TaskPlacement) -> Iterator[str]:
    for _ in range(int(expect.get("repeat", 0))):
        if question.answer() != answer:
            yield "asked again it answers otherwise"
    if expect.get("permutation_invariant") and question.turned_round().answer() != answer:
        yield "in another order it answers otherwise"
    if expect.get("then_repeat_is_identity"):
        again = question.after(answer).answer()
        if not isinstance(again, TaskPlacement) or again.processor_of != answer.processor_of:
            yield "placed again from its own result it moves tasks"


def _standby(question: _Question, answer: TaskPlacement, replicas: int) -> dict[str, Any]:
    copies = sum(map(len, place_standbys(answer, replicas).copies.values()))
    return {
        "active_unchanged": question.locality.processors == answer.processor_of,
        "containers": len(question.processors),
        "total_tasks": len(answer.processor_of) + copies,
        "standby_tasks": copies,
    }


def _differ(field: str, expected: Any, found: Any) -> Iterator[str]:
    if expected != found:
        yield f"{field} is {found}, not {expected}"
