"""What is planted in a real loop is found on its page."""

from tests.harness.runs.app_runs import AppEnv
from tests.harness.runs.planted_faults import SKEWED_KEYS, begin_both, go_on_alone, two_streams
from tests.harness.runs.run_systems import ON_SPARK
from tests.harness.runs.timed_streams import at, inputs
from tests.harness.runs.watched_loop import WatchedLoop


def waits(watched: WatchedLoop) -> list[str]:
    """What the page says once all that is there was read."""
    watched.to_the_end()
    return [wait["text"] for wait in watched.snapshot()["waits"]]


@ON_SPARK
def test_the_stream_that_has_stopped_is_named_while_windows_wait_for_it(env: AppEnv) -> None:
    begin_both(env)
    watched = WatchedLoop.start(env, two_streams())
    assert waits(watched) == []
    go_on_alone(env, 900)
    (sentence,) = waits(watched)
    assert sentence.startswith(
        "stopped holds back the watermark of both, counted, counted-sent: it is at 2026-01-01 00:00:0"
    )
    assert "14 minutes behind events" in sentence
    env.write("stopped", inputs([at(890)]), 1)
    assert waits(watched) == []
    watched.release()


@ON_SPARK
def test_the_stream_that_never_had_a_record_is_named_with_the_tasks_that_wait_for_one(env: AppEnv) -> None:
    everybody = [at(second, user=f"user {second}") for second in range(20)]
    env.write("events", inputs(everybody))
    env.write("stopped", inputs([at(0, user="user 0")]))  # in one of two partitions
    watched = WatchedLoop.start(env, two_streams())
    assert waits(watched) == []  # a minute may pass before a first record
    watched.clock.seconds += 61
    (sentence,) = waits(watched)
    assert sentence.startswith("stopped has given 1 of 2 tasks no record yet, and so no watermark")
    env.write("stopped", inputs(everybody))
    assert waits(watched) == []
    watched.release()


@ON_SPARK
def test_the_task_with_the_key_of_most_records_is_named_while_it_is_behind(env: AppEnv) -> None:
    env.write("events", inputs([at(0, user=key) for key in SKEWED_KEYS]), 4)
    env.write("stopped", [], 4)
    watched = WatchedLoop.start(env, two_streams(), rows=200)
    watched.steps(4)
    snapshot = watched.snapshot()
    (sentence,) = (wait["text"] for wait in snapshot["waits"])
    assert "more processors do not help" in sentence
    tasks = [task for processor in snapshot["processors"] for task in processor["tasks"]]
    (behind,) = [task for task in tasks if sentence.startswith(f"task {task['name']}, one of 4, has ")]
    assert behind["lag"] > 2_000
    assert sum(task["lag"] for task in tasks) == snapshot["lag"]
    assert sentence.endswith(f"most records of {', '.join(behind['partitions'])} have")
    assert waits(watched) == []
    watched.release()
