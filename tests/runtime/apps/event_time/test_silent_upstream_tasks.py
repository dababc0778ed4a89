"""An upstream task that falls silent: how long the stream that it writes to waits for it."""

from typing import Any

import pyarrow as pa
import pytest

from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.key_partitioning import partition_of
from tests.harness.runs.app_runs import AppEnv, app
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent

NAMES = [f"u{number}" for number in range(20)]
PLACES = partition_of(pa.array([name.encode() for name in NAMES]), 2).tolist()
SPEAKING, SILENT = NAMES[PLACES.index(0)], NAMES[PLACES.index(1)]
MOST_STEPS = 30


class Watched:
    """An app of two tasks that write to an intermediate stream, and a clock that the test turns."""

    def __init__(self, env: AppEnv, rule: dict[str, Any], kind: str = "partitionBy") -> None:
        body = {"from": "events", **rule}
        by_page = {"name": "by-page", kind: body | ({"key": "page"} if kind == "partitionBy" else {})}
        streams = [events(), {"name": "out", "key": "page"}]
        made = app(by_page, counting("by-page", key="page"), sent("counted"), streams=streams, config=NOW)
        self.env = env
        env.write("events", inputs([at(1, SPEAKING), at(2, SILENT)]), partitions=2)
        _, ready = env.launched(made)
        assert ready.setup.time is not None
        self.now = ready.setup.time.since
        self.loop = env.loop(CurrentRun.of(ready, batch_rows=1_000), clock=lambda: self.now)
        self.loop.start()
        self.settle()

    def settle(self) -> int:
        """Batches until there is nothing to do at this time; how many records they read."""
        read = 0
        for _ in range(MOST_STEPS):
            batch = self.loop.step()
            if batch is None and not self.loop.planner.behind:
                return read
            read += batch.rows_in if batch else 0
        raise AssertionError("there is always something to do")

    def write(self, *seconds: int) -> None:
        self.env.write("events", inputs([at(second, SPEAKING) for second in seconds]), partitions=2)
        self.settle()

    @property
    def windows(self) -> list[tuple[str, int]]:
        return [(row["window_start"][17:19], row["rows"]) for row in self.env.rows("out")]


def test_it_is_left_out_when_its_time_is_over_though_no_record_comes(env: AppEnv) -> None:
    watched = Watched(env, {"idleTimeout": "10s"})
    watched.now += 5_000
    watched.write(13)
    assert watched.windows == []
    watched.now += 4_999
    assert (watched.settle(), watched.windows) == (0, [])
    watched.now += 1
    assert (watched.settle(), watched.windows) == (0, [("00", 2)])
    watched.loop.release()


@pytest.mark.parametrize("rule", [{}, {"idleTimeout": "10s", "idleQuorum": 1.0}])
def test_without_a_rule_or_a_quorum_it_is_waited_for(env: AppEnv, rule: dict[str, Any]) -> None:
    watched = Watched(env, rule)
    watched.now += 60_000
    watched.write(13)
    watched.now += 60_000
    assert (watched.settle(), watched.windows) == (0, [])
    watched.loop.release()


def test_when_it_speaks_again_its_rows_are_judged_by_what_was_reached_without_it(env: AppEnv) -> None:
    watched = Watched(env, {"idleTimeout": "10s"})
    watched.now += 10_000
    watched.write(13)
    assert watched.windows == [("00", 2)]
    env.write("events", inputs([at(9, SILENT), at(14, SILENT)]), partitions=2)
    watched.write(25)
    watched.now += 10_000
    env.write("events", inputs([at(25, SILENT)]), partitions=2)
    watched.settle()
    assert watched.windows == [("00", 2), ("10", 2)]
    watched.loop.release()
