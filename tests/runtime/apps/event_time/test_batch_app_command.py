"""A batch app as people run it: on two processors, to its end, and once more."""

import subprocess

import pytest

from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.run_systems import ON_SPARK_AND_KAFKA
from tests.harness.runs.timed_streams import at, counting, events, sent

ROWS = [at(n, f"u{n % 7}", f"/{n % 3}") for n in range(40)]


@pytest.mark.long
@ON_SPARK_AND_KAFKA
def test_a_batch_app_on_two_processors_ends_with_0_and_a_summary_each_time(env: AppEnv) -> None:
    made = app(
        {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 3}},
        counting("by-page", key="page"),
        sent("counted"),
        streams=[events(), {"name": "out", "key": "page"}],
        mode="batch",
        processors=2,
    )
    for part in (ROWS[:25], ROWS[25:]):
        env.write("events", inputs(part, "user"), partitions=4)
        ended = subprocess.run(env.command(made), capture_output=True, text=True, timeout=400, check=False)
        assert ended.returncode == 0, ended.stderr
        assert "rows in, " in ended.stderr.splitlines()[-1]
    written = [record.value for record in env.records("out")]
    last = {(row["page"], row["window_start"]): row["rows"] for row in written}
    assert sum(last.values()) == len(ROWS)
