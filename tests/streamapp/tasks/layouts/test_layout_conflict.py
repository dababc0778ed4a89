from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.reasons import Reason
from streamapp.tasks.groupers.grouper import BY_STREAM_PARTITION, SINGLE_TASK
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_conflict import layout_conflict
from streamapp.tasks.partition import Partition
from tests.harness.core.task_forming import formed

FIRST = formed({"clicks": 2, "views": 2}, run="r1")


def conflict(kept: Layout | None, model: Assignment) -> str:
    found = layout_conflict(kept, model.layout, model.tasks, model.broadcast)
    if found is None:
        return ""
    assert found.reason is Reason.LAYOUT_CONFLICT
    return found.message


@given(st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=4))
def test_a_model_made_from_the_layout_never_contradicts_it(steps: list[tuple[int, bool]]) -> None:
    kept, count = FIRST, 2
    for factor, both in steps:
        count *= factor
        model = formed({"views": count, **({"clicks": 2} if both else {})}, kept)
        assert conflict(kept.layout, model) == ""
        kept = model


def test_without_state_anything_may_be_run_that_agrees_with_itself() -> None:
    assert conflict(None, FIRST) == ""
    stateless = formed({"views": 2}, stateful=False)
    assert conflict(stateless.layout, formed({"views": 3}, stateless, stateful=False)) == ""


def test_a_model_that_grew_without_knowing_the_state_is_refused() -> None:
    message = conflict(FIRST.layout, formed({"clicks": 2, "views": 4}, run="r1"))
    assert "views had 2 partitions when its state began, not 4" in message


def test_a_model_that_forgot_a_later_growth_is_refused() -> None:
    grown = formed({"clicks": 2, "views": 4}, FIRST)
    assert "views had 4 partitions and would have 2" in conflict(grown.layout, FIRST)


def test_a_model_of_another_run_is_refused() -> None:
    other = replace(FIRST, layout=replace(FIRST.layout, run="r2"))
    assert "run r1" in conflict(FIRST.layout, other)


def test_a_model_formed_by_another_grouper_is_refused() -> None:
    other = formed({"clicks": 2, "views": 2}, run="r1", grouper=BY_STREAM_PARTITION)
    message = conflict(FIRST.layout, other)
    assert "formed by partition" in message
    assert "clicks#0" in message


def test_a_forgotten_stream_is_named() -> None:
    assert "stream views is forgotten" in conflict(FIRST.layout, formed({"clicks": 2}, run="r1"))


def test_a_task_with_another_changelog_partition_is_named() -> None:
    swapped = replace(FIRST.layout, changelog={"Partition 0": 1, "Partition 1": 0})
    message = conflict(FIRST.layout, replace(FIRST, layout=swapped))
    assert "task Partition 0 has changelog partition 0 and would get 1" in message


def test_a_model_whose_tasks_do_not_follow_its_own_layout_is_refused() -> None:
    tasks = {"Partition 0": (Partition("views", 1),), "Partition 1": (Partition("views", 0),)}
    message = conflict(None, replace(FIRST, tasks=tasks))
    assert "views#1 is given to task Partition 0, and its state is with Partition 1" in message


def test_a_task_without_a_changelog_partition_is_named() -> None:
    tasks = {**FIRST.tasks, "stray": ()}
    assert "task stray has no changelog partition" in conflict(None, replace(FIRST, tasks=tasks))


def test_of_many_contradictions_a_few_are_shown() -> None:
    first = formed({"views": 500})
    other = formed({"views": 500}, grouper=BY_STREAM_PARTITION)
    message = conflict(first.layout, other)
    assert message.endswith("; and more")
    assert len(message) < 800


@pytest.mark.parametrize("processors", [("0",), ("0", "1")])
def test_tasks_that_read_everything_agree_with_their_layout(processors: tuple[str, ...]) -> None:
    first = formed({"rates": 1, "views": 2}, grouper=SINGLE_TASK, processors=processors)
    grown = formed({"rates": 1, "views": 3}, first, grouper=SINGLE_TASK, processors=processors)
    assert conflict(first.layout, grown) == ""
