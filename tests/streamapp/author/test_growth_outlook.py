"""What is said of a growth before it comes, held against what follows once it is there."""

from dataclasses import replace
from typing import Any

import pytest

from streamapp.author.growth_outlook import GrowthOutlook, growth_outlook
from streamapp.author.proposal import PlanningInputs, propose
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from tests.harness.core.app_resources import app_resource

SENT = {"name": "sent", "sendTo": {"from": "views", "stream": "out"}}
COUNTED = {"name": "counted", "aggregate": {"from": "views", "aggregates": "count(*) AS n"}}


def sample(*operators: dict[str, Any], **spec: Any) -> StreamApp:
    streams = [
        {"name": "views", "key": "user", "columns": "user STRING, n BIGINT"},
        {"name": "orders", "key": "user", "columns": "user STRING, n BIGINT"},
        {"name": "out", "key": "user"},
    ]
    parsed = parse_data(app_resource(operators, streams, (), "app", **spec))
    assert not parsed.problems
    return parsed.apps[0]


def outlook(made: StreamApp, after: int, stream: str = "views", **counts: int) -> GrowthOutlook:
    inputs = PlanningInputs({"views": 4, "orders": 4, "out": 4, **counts})
    assignment = propose(made, inputs).assignment
    assert assignment is not None
    said = growth_outlook(made, inputs, assignment, stream, after)
    assert said is not None
    if not said.refusal:  # it is what follows
        grown = replace(inputs, counts={**inputs.counts, stream: after}, layout=assignment.layout)
        then = propose(made, grown).assignment
        assert then is not None
        assert said.tasks_after == len(then.tasks)
    return said


def test_a_growth_of_a_stream_with_state_brings_no_task_and_keys_stay_with_theirs() -> None:
    said = outlook(sample(COUNTED, {**SENT, "sendTo": {"from": "counted", "stream": "out"}}), 8)
    assert said.text == (
        "With 8 partitions instead of 4: 4 tasks as before. The new partitions are read by the tasks that"
        " hold the state of their keys: views#4 by Partition 0, views#5 by Partition 1,"
        " views#6 by Partition 2, views#7 by Partition 3."
        " The app takes them up between two batches, without a restart (onPartitionChange: live)."
    )


def test_a_growth_without_state_brings_tasks() -> None:
    said = outlook(sample(SENT, onPartitionChange="restart"), 6)
    assert said.text == (
        "With 6 partitions instead of 4: 6 tasks instead of 4. The new partitions are read by 2 new tasks"
        " without state: views#4 by Partition 4, views#5 by Partition 5. The app restarts for"
        " it (onPartitionChange: restart)."
    )


def test_a_growth_that_would_move_keys_from_their_state_is_said_to_be_refused() -> None:
    said = outlook(sample(COUNTED, {**SENT, "sendTo": {"from": "counted", "stream": "out"}}), 6)
    assert said.text.startswith(
        "With 6 partitions instead of 4: its 6 partitions are no multiple of the 4 it had"
    )


def test_a_growth_that_the_app_does_not_look_for_waits_for_its_next_start() -> None:
    said = outlook(sample(SENT, monitor={"enabled": False}), 8)
    assert said.text.endswith("The app takes them up at its next start, since monitor.enabled is false.")


def test_more_than_a_few_new_partitions_are_counted() -> None:
    said = outlook(sample(COUNTED, {**SENT, "sendTo": {"from": "counted", "stream": "out"}}), 12)
    assert "views#7 by Partition 3, and 4 more." in said.text


def test_the_own_grouper_of_an_app_is_not_asked_ahead() -> None:
    made = sample(SENT)
    named = made.model_copy(update={"spec": made.spec.model_copy(update={"grouper": "shop.tasks:by_user"})})
    inputs = PlanningInputs({"views": 4, "orders": 4, "out": 4})
    assignment = propose(made, inputs).assignment
    assert assignment is not None
    said = growth_outlook(named, inputs, assignment, "views", 8)
    assert said is not None
    assert said.refusal == "shop.tasks:by_user is asked once the stream has grown"


@pytest.mark.parametrize("stream", ["out", "orders", "unknown"])
def test_a_stream_that_the_app_does_not_read_has_no_outlook(stream: str) -> None:
    made = sample(SENT)
    inputs = PlanningInputs({"views": 4, "orders": 4, "out": 4})
    assignment = propose(made, inputs).assignment
    assert assignment is not None
    assert growth_outlook(made, inputs, assignment, stream, 8) is None
