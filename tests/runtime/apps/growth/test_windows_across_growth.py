"""A partition that a growth splits off begins with the watermark of the one that it was split from."""

import pyarrow as pa

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.key_partitioning import partition_of
from tests.harness.runs.app_runs import AppEnv, app
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent

WINDOWS = [counting("events"), sent("counted")]
OUT = {"name": "out", "key": "user"}
NAMES = [f"u{number}" for number in range(100)]
PLACES = partition_of(pa.array([name.encode() for name in NAMES]), 4).tolist()
USERS = [NAMES[PLACES.index(partition)] for partition in range(4)]
"""One user for each of four partitions; of two partitions the first has the even ones."""


def of_one_task() -> StreamApp:
    """One task reads all partitions, and the lowest of their watermarks is its own."""
    return app(*WINDOWS, streams=[events(), OUT], config=NOW, grouper="single")


def windows(env: AppEnv) -> list[tuple[str, str]]:
    return [(row["user"], row["window_start"][14:19]) for row in env.rows("out")]


def grown(env: AppEnv) -> Run:
    """Partition 0 has come to 100 s and partition 1 to 12 s when 2 and 3 are split off."""
    env.write("events", inputs([at(100, USERS[0]), at(12, USERS[1])]), partitions=2)
    run = Run.start(env, of_one_task())
    run.to_the_end()
    assert env.records("out") == []
    env.grow("events", 4)
    assert run.review() == ["events went from 2 to 4 partitions"]
    return run


def test_a_new_partition_without_records_holds_no_window_back(env: AppEnv) -> None:
    run = grown(env)
    env.write("events", inputs([at(30, USERS[1]), at(31, USERS[3])]), partitions=4)
    run.to_the_end()
    assert windows(env) == [(USERS[1], "00:10")]


def test_a_straggler_in_it_takes_the_watermark_no_further_back(env: AppEnv) -> None:
    run = grown(env)
    rows = [at(50, USERS[2]), at(65, USERS[1]), at(120, USERS[1]), at(120, USERS[3])]
    env.write("events", inputs(rows), partitions=4)
    run.to_the_end()
    assert sorted(windows(env)) == sorted([(USERS[1], "00:10"), (USERS[1], "01:00"), (USERS[2], "00:50")])


def test_a_driver_that_starts_after_the_growth_knows_it_too(env: AppEnv) -> None:
    env.write("events", inputs([at(100, USERS[0]), at(12, USERS[1])]), partitions=2)
    run = Run.start(env, of_one_task())
    run.to_the_end()
    run.loop.release()
    env.grow("events", 4)
    env.write("events", inputs([at(30, USERS[1]), at(31, USERS[3])]), partitions=4)
    Run.start(env, of_one_task()).to_the_end()
    assert windows(env) == [(USERS[1], "00:10")]
