"""A stream that grows while an app with state reads it: nothing is lost, doubled or out of order."""

import pytest

from streamapp.spec.reasons import Reason
from tests.harness.runs.app_runs import AppEnv, app, in_order, inputs, last_by_key
from tests.harness.runs.chained_app import EVENTS, USERS, chained, everything_once_and_in_order, numbered
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.run_systems import ON_BOTH


@ON_BOTH
def test_a_stream_that_doubles_is_taken_up_between_two_batches(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 10), "user"), 2)
    run = Run.start(env, chained(), rows=90)
    run.steps(3)
    env.grow("events", 4)
    env.write("events", inputs(numbered(10, 20), "user"), 4)
    assert run.review() == ["events went from 2 to 4 partitions"]
    assert run.loop.launch.model.version == 2
    run.to_the_end()
    everything_once_and_in_order(env, 20)


@ON_BOTH
def test_a_stream_with_no_state_behind_it_may_grow_to_any_count(env: AppEnv) -> None:
    made = app(
        {"name": "by-user", "partitionBy": {"from": "events", "key": "user", "partitions": 3}},
        {
            "name": "total",
            "aggregate": {"from": "by-user", "aggregates": "sum(n) AS total, count(*) AS rows"},
        },
        {"name": "told", "sendTo": {"from": "total", "stream": "totals"}},
        streams=[EVENTS, {"name": "totals", "key": "user"}],
    )
    env.write("events", inputs(numbered(0, 5), "user"), 3)
    run = Run.start(env, made, rows=90)
    run.steps(2)
    for count, first in ((4, 5), (7, 10)):
        env.grow("events", count)
        env.write("events", inputs(numbered(first, first + 5), "user"), count)
        (growth,) = run.review()
        assert f"to {count} partitions, and the order of a key's records across the growth is not" in growth
        run.steps(1)
    run.to_the_end()
    totals = last_by_key(env.records("totals"))
    assert {key: (value["total"], value["rows"]) for key, value in totals.items()} == {
        f"u{user}": (sum(range(15)), 15) for user in range(USERS)
    }


def test_new_partitions_follow_the_task_that_holds_their_keys(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 2), "user"), 2)
    run = Run.start(env, chained())
    run.to_the_end()
    env.grow("events", 6)
    run.review()
    held = {task: [p.index for p in parts] for task, parts in run.loop.launch.partitions.items()}
    assert held == {"Partition 0": [0, 2, 4], "Partition 1": [1, 3, 5]}


@ON_BOTH
def test_growths_that_follow_each_other_before_all_is_read_keep_the_order(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 6), "user"), 2)
    run = Run.start(env, chained(), rows=60)
    run.steps(2)
    for count, first in ((4, 6), (8, 12), (16, 18)):
        env.grow("events", count)
        env.write("events", inputs(numbered(first, first + 6), "user"), count)
        assert run.review()
        run.steps(2)
    run.to_the_end()
    everything_once_and_in_order(env, 24)


@ON_BOTH
def test_until_producers_have_settled_new_partitions_wait(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 4), "user"), 2)
    run = Run.start(env, chained(partitionSettle="1h"))
    run.to_the_end()
    env.grow("events", 4)
    env.write("events", inputs(numbered(4, 5), "user"), 4)
    assert run.review()
    run.steps(6)
    rows = len(env.rows("out"))
    assert len(numbered(0, 4)) < rows < len(numbered(0, 5))  # of the old partitions all was read
    assert run.loop.planner.behind
    late = 3_601.0
    clock = run.loop.backlog.clock
    run.loop.backlog.clock = lambda: clock() + late
    run.to_the_end()
    everything_once_and_in_order(env, 5)


@ON_BOTH
def test_a_driver_that_starts_after_a_growth_keeps_the_order_too(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 10), "user"), 2)
    run = Run.start(env, chained(), rows=90)
    run.steps(3)
    env.grow("events", 4)
    env.write("events", inputs(numbered(10, 20), "user"), 4)
    Run.start(env, chained(), rows=90).to_the_end()
    everything_once_and_in_order(env, 20)


def test_a_driver_that_dies_between_the_new_layout_and_the_switch_changes_nothing(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 10), "user"), 2)
    run = Run.start(env, chained(), rows=90)
    run.steps(3)
    env.grow("events", 4)
    env.write("events", inputs(numbered(10, 20), "user"), 4)
    assert run.author.next(run.loop.launch, run.loop.launch.lanes, env.session, 1, count=True)
    Run.start(env, chained(), rows=90).to_the_end()  # the first one is not heard of again
    everything_once_and_in_order(env, 20)


@ON_BOTH
@pytest.mark.parametrize("count", [3, 5])
def test_a_count_that_is_no_multiple_is_refused_with_a_warning_and_the_app_goes_on(
    env: AppEnv, count: int
) -> None:
    env.write("events", inputs(numbered(0, 4), "user"), 2)
    run = Run.start(env, chained())
    run.to_the_end()
    env.write("events", inputs(numbered(4, 8), "user"), 2)
    env.grow("events", count)
    assert run.review() == []
    assert [one.reason for one in run.author.warnings] == [Reason.EXPANSION_NOT_MULTIPLE]
    assert run.author.warnings[0].path == "spec.streams[0]"
    assert run.review() == []
    assert run.author.warnings  # it stays
    run.to_the_end()
    everything_once_and_in_order(env, 8)


def test_the_warning_of_a_refused_growth_stands_whatever_is_looked_at_in_between(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 4), "user"), 2)
    run = Run.start(env, chained())
    run.to_the_end()
    env.grow("events", 3)
    assert run.review() == []
    warnings = run.author.warnings
    assert warnings
    for _ in range(3):
        assert run.review(count=False) == []  # between two looks at the streams
        assert run.author.warnings == warnings


@ON_BOTH
def test_a_run_that_starts_while_a_growth_is_refused_goes_on_as_it_was_and_warns(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 4), "user"), 2)
    Run.start(env, chained()).to_the_end()
    env.write("events", inputs(numbered(4, 8), "user"), 2)
    env.grow("events", 3)
    run = Run.start(env, chained())
    assert sorted(run.loop.launch.partitions) == ["Partition 0", "Partition 1"]
    assert run.review() == []
    assert [warning.reason for warning in run.author.warnings] == [Reason.EXPANSION_NOT_MULTIPLE]
    run.to_the_end()
    everything_once_and_in_order(env, 8)


def test_a_refused_count_that_grows_on_to_a_legal_one_is_taken_up(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 4), "user"), 2)
    run = Run.start(env, chained())
    run.to_the_end()
    env.grow("events", 3)
    run.review()
    env.grow("events", 4)
    assert run.review() == ["events went from 2 to 4 partitions"]
    assert run.author.warnings == ()


def test_an_app_without_state_forms_its_tasks_anew_and_reads_everything_once(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 10), "user"), 2)
    made = app(
        {"name": "by", "partitionBy": {"from": "events", "key": "n"}},
        {"name": "sent", "sendTo": {"from": "by", "stream": "out"}},
        streams=[EVENTS, {"name": "out"}],
    )
    run = Run.start(env, made, rows=90)
    run.steps(3)
    env.grow("events", 3)
    env.write("events", inputs(numbered(10, 20), "user"), 3)
    assert run.review()
    run.to_the_end()
    assert in_order(env.rows("out")) == in_order(numbered(0, 20))
    assert sorted(run.loop.launch.partitions) == ["Partition 0", "Partition 1", "Partition 2"]


@ON_BOTH
def test_an_output_that_grows_is_written_by_its_new_count(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 2), "user"), 2)
    run = Run.start(env, chained())
    run.to_the_end()
    env.grow("out", 8)
    env.write("events", inputs(numbered(2, 4), "user"), 2)
    assert run.review() == ["out went from 2 to 8 partitions"]
    run.to_the_end()
    assert {record.partition for record in env.records("out")} > {0, 1}
    everything_once_and_in_order(env, 4)


def test_where_nothing_changed_nothing_is_done(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 2), "user"), 2)
    run = Run.start(env, chained())
    run.to_the_end()
    assert run.review() == []
    assert run.loop.ledger.incarnation == 1
