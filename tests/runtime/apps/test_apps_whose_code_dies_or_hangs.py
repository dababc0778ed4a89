"""Python of the app that ends its worker, or never comes back: the record is found, as after an error."""

import json
import re
import subprocess
import time
from typing import Any

import pytest

from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.failures import FinalFailureError
from tests.harness.runs.app_runs import AppEnv, Row, app, in_order, inputs
from tests.harness.runs.run_systems import ON_SPARK

ROWS: list[Row] = [{"user": f"u{n % 5}", "n": n} for n in range(10, 16)]
GOOD = [row for row in ROWS if row["n"] != 13]
CODE = "tests.harness.user_code.graph_code"


def mapping(function: str, **spec: Any) -> Any:
    columns = "user STRING, n INT"
    mapped = {
        "name": "mapped",
        "map": {"from": "events", "python": f"{CODE}:{function}", "columns": columns},
    }
    sent = {"name": "sent", "sendTo": {"from": "mapped", "stream": "out"}}
    streams = [{"name": "events", "key": "user", "columns": columns}, {"name": "out"}]
    return app(mapped, sent, streams=streams, **spec)


@pytest.mark.nightly
@ON_SPARK
def test_code_that_ends_its_worker_ends_the_app_and_the_record_is_named(env: AppEnv) -> None:
    ends_the_app(env, "exiting", "a Python worker ended without a word: .* memory, or it ended itself")


def test_code_that_wants_more_memory_than_there_is_ends_the_app_and_the_record_is_named(env: AppEnv) -> None:
    ends_the_app(env, "exhausting", "wants more memory than there is: MemoryError")


def ends_the_app(env: AppEnv, function: str, reason: str) -> None:
    env.write("events", inputs(ROWS, "user"), partitions=1)
    expected = f'the app\'s own code fails on a record: events#0 at offset 3, key "[^"]+": .*{reason}'
    with pytest.raises(FinalFailureError, match=expected):
        env.run(mapping(function))
    assert env.rows("out") == []


@ON_SPARK
def test_a_record_on_which_workers_die_is_set_aside_as_the_app_says(env: AppEnv) -> None:
    env.write("events", inputs(ROWS, "user"), partitions=1)
    batches = env.run(mapping("crashing", onCodeError={"action": "skip"}))
    assert env.rows("out") == in_order(GOOD)
    assert sum(batch.bad for batch in batches) == 1
    (sample,) = [sample for batch in batches for sample in batch.samples]
    assert (sample.stream, sample.partition, sample.offset) == ("events", 0, 3)
    died = r"a Python worker died: Segmentation fault in crashing, line \d+ of graph_code.py"
    assert re.search(died, sample.reason)


@ON_SPARK
def test_a_batch_that_hangs_is_told_while_it_does_and_ended_and_its_record_is_named(env: AppEnv) -> None:
    env.write("events", inputs(ROWS[2:4], "user"), partitions=1)
    command = env.command(mapping("hanging", batch={"timeout": "3s"}), "--until-end", "--log-format", "json")
    ended = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    messages = [json.loads(line) for line in ended.stderr.splitlines()]
    assert ended.returncode == 1
    expected = r'events#0 at offset 1, key "[^"]+": the batch had not ended after 3 s'
    assert re.search(expected, messages[-1]["message"])
    assert "processor-0 has been in mapped for" in messages[-1]["message"]
    slow = [one["message"] for one in messages if one.get("event") == "slow"]
    assert any("processor-0 has been in mapped for" in message for message in slow)


@ON_SPARK
def test_a_batch_that_hangs_does_not_outlast_the_end_of_a_run(env: AppEnv) -> None:
    env.write("events", inputs(ROWS[2:4], "user"), partitions=1)
    _, ready = env.launched(mapping("hanging"))
    reasons: list[str] = []
    loop = env.loop(CurrentRun.of(ready), batch_failed=reasons.append)
    loop.start()
    assert loop.step() is not None  # workers start
    loop.lanes.end_by = time.monotonic() + 5
    assert loop.step() is None
    (reason,) = reasons
    assert "the batch had not ended after" in reason
    assert "processor-0 has been in mapped for" in reason
    assert env.rows("out") == []
