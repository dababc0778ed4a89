"""One run as a child process, looked at from all sides, stopped, and started again."""

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from examples.sample_data import Sample
from streamapp_runtime.cli.log import log
from streamapp_runtime.cli.state import state
from streamapp_runtime.driver.inputs.batch_planning import KEEP_ALIVE_SECONDS
from streamapp_runtime.driver.reporting.run_metrics import (
    COUNTED,
    METRICS,
    REFRESH_FAILURES,
    REFRESHES,
    WATERMARK,
)
from tests.harness.machine.processes import until
from tests.harness.runs.run_process import Running, Said, ends, got

pytestmark = pytest.mark.usefixtures("process")
MEASURED_SECONDS = KEEP_ALIVE_SECONDS + 20.0
"""What the last batch wrote may be measured in the next one, which comes where there is nothing to read."""
SAMPLE = re.compile(r"^(?P<name>\w+)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)$")


def scraped(running: Running) -> dict[str, float]:
    (url,) = [said["url"] for said in running.said if said.get("event") == "metrics"]
    status, _, text = got(url)
    assert status == 200
    lines = text.splitlines()
    found = [SAMPLE.match(line) for line in lines if not line.startswith("#")]
    return {f"{one['name']} {one['labels'] or ''}".strip(): float(one["value"]) for one in found if one}


def shown(*arguments: str) -> list[Said]:
    result = CliRunner().invoke(state, list(arguments))
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def totals(data: Path) -> dict[str, int]:
    lines = CliRunner().invoke(log, ["read", str(data), "totals"]).stdout.splitlines()
    return {row["country"]: row["views"] for row in map(json.loads, lines)}


@pytest.mark.smoke
def test_it_tells_its_plan_first(idle: Running) -> None:
    (started,) = [said for said in idle.said if said.get("event") == "started"]
    assert started["app"] == "shop.country-views"
    assert started["tasks"] == 4
    assert {"views", "users", "totals", "shop.country-views.by-user"} <= started["streams"].keys()


@pytest.mark.smoke
def test_it_counts_what_is_there(idle: Running, sample_data: Sample) -> None:
    assert totals(idle.data) == sample_data.views_by_country()


def test_its_metrics_tell_what_was_read_by_stream(idle: Running, sample_data: Sample) -> None:
    found = scraped(idle)
    assert found['streamapp_rows_in_total stream="views"'] == len(sample_data.views)
    assert found['streamapp_rows_in_total stream="users"'] == len(sample_data.users)
    assert found['streamapp_lag_rows stream="views"'] == 0
    assert found["streamapp_incarnation"] == 1
    assert found['streamapp_batch_seconds_count step="batch"'] == found["streamapp_batches_total"]
    assert found["streamapp_batches_failed_total"] == 0
    assert found['streamapp_latency_seconds_count stream="views"'] > 0
    (memory,) = [value for name, value in found.items() if name.startswith("streamapp_memory_bytes ")]
    assert memory > 2**20


def test_its_metrics_tell_what_was_written_by_stream(idle: Running) -> None:
    found, between = scraped(idle), 'stream="shop.country-views.by-user"'
    lines = CliRunner().invoke(log, ["read", str(idle.data), "totals"]).stdout.splitlines()
    assert found['streamapp_rows_out_total stream="totals"'] == len(lines)
    assert found['streamapp_bytes_out_total stream="totals"'] > len(lines)
    for what in ("rows", "bytes"):  # all that is written between the stages is read there
        assert found[f"streamapp_{what}_out_total {between}"] == found[f"streamapp_{what}_in_total {between}"]


def test_its_metrics_tell_what_its_stores_hold(idle: Running, sample_data: Sample) -> None:
    entries = 'streamapp_state_entries table="users"'
    until(lambda: scraped(idle).get(entries) == len(sample_data.users), MEASURED_SECONDS)
    samples = scraped(idle)
    assert samples['streamapp_state_bytes table="users"'] > 0
    (free,) = [value for name, value in samples.items() if name.startswith("streamapp_state_free_bytes ")]
    (size,) = [value for name, value in samples.items() if name.startswith("streamapp_state_volume_bytes ")]
    assert 0 < free <= size == shutil.disk_usage(idle.data).total


def test_every_metric_of_the_page_is_served(idle: Running) -> None:
    served = {name.split()[0] for name in scraped(idle)}
    of_other_systems = {metric for metric in METRICS if metric.labels == ("system",)}
    # These have values where there is a reason.
    of_events = {*COUNTED.values(), WATERMARK, REFRESHES, REFRESH_FAILURES}
    for metric in set(METRICS) - of_events - of_other_systems:
        assert {metric.name, f"{metric.name}_count"} & served


def test_its_page_tells_what_was_read_where_it_stands_and_what_its_stores_hold(
    idle: Running, sample_data: Sample
) -> None:
    (url,) = [said["url"] for said in idle.said if said.get("event") == "page"]
    assert got(url)[:2] == (200, "text/html; charset=utf-8")
    snapshot = json.loads(got(url + "data")[2])
    assert (snapshot["app"], snapshot["model"], snapshot["lag"]) == ("shop.country-views", 1, 0)
    (views,) = [row for row in snapshot["streams"] if row["name"] == "views"]
    assert views["lag"] == 0
    assert sum(row["rowsIn"] for row in snapshot["batches"]) >= len(sample_data.views)
    (processor,) = snapshot["processors"]
    assert processor["location"]
    assert {task["state"] for task in processor["tasks"]} == {"working"}
    assert "users#0" in processor["tasks"][0]["partitions"]

    def users_entries() -> int | None:
        (users,) = [row for row in json.loads(got(url + "data")[2])["tables"] if row["name"] == "users"]
        entries: int | None = users["entries"]
        return entries

    until(lambda: users_entries() == len(sample_data.users), MEASURED_SECONDS)
    assert 'data-name="by-country"' in got(url + "plan.svg")[2]


def test_a_table_can_be_read_while_the_app_runs(idle: Running, sample_data: Sample) -> None:
    rows = shown("read", str(idle.data), "users", "-o", "json")
    assert sorted(row["key"] for row in rows) == sorted(str(user["user"]) for user in sample_data.users)
    assert {row["key"]: row["row"] for row in rows} == {user["user"]: user for user in sample_data.users}


def test_one_key_of_a_table_is_found_wherever_it_is(idle: Running, sample_data: Sample) -> None:
    (row,) = shown("read", str(idle.data), "users", "--key", "u17", "-o", "json")
    assert row["row"] == sample_data.users[17]
    assert shown("read", str(idle.data), "users", "--task", row["task"], "--key", "u17", "-o", "json") == [
        row
    ]


def test_stores_can_be_listed_while_the_app_runs(idle: Running, sample_data: Sample) -> None:
    result = CliRunner().invoke(state, ["list", str(idle.data), "-o", "json"])
    users = [store for store in json.loads(result.stdout) if store["table"] == "users"]
    assert {store["store"] for store in users} == {"lmdb"}
    assert sum(store["entries"] for store in users) == len(sample_data.users)
    assert len({store["task"] for store in users}) == 4


def test_a_table_that_is_not_there_is_told_beside_the_one_meant(idle: Running) -> None:
    result = CliRunner().invoke(state, ["read", str(idle.data), "user"])
    assert result.exit_code == 1
    assert 'did you mean "users"?' in result.stderr


@pytest.fixture(scope="session")
def stopped(idle: Running) -> Running:
    assert idle.end(signal.SIGINT) == 0, idle.said
    return idle


def test_interrupted_once_it_ends_well_and_says_so_last(stopped: Running) -> None:
    assert stopped.said[-1] == {"outcome": "done", "reason": "", "path": "", "message": ""}
    assert stopped.said[-2]["event"] == "ended"
    assert stopped.said[-2]["bad"] == 0


@pytest.mark.smoke
def test_started_again_and_told_twice_to_end_it_is_gone_at_once_and_nothing_is_counted_twice(
    stopped: Running, sample_data: Sample
) -> None:
    again = Running.start(stopped.data)
    again.until(lambda said: said.get("event") == "started")
    children = [os.pidfd_open(pid) for pid in again.children()]
    assert again.end(signal.SIGTERM, signal.SIGINT) in {128 + signal.SIGINT, 128 + signal.SIGTERM}
    assert children
    ended = [ends(child) for child in children]
    assert all(ended)
    assert totals(stopped.data) == sample_data.views_by_country()
