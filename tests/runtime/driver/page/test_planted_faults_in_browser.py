"""Faults that are planted in real runs, found by who looks at the page and at nothing else."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.engine.opened_pages import watched
from tests.harness.machine.app_processes import kill
from tests.harness.runs.app_runs import AppEnv, Input, app, inputs, write_all
from tests.harness.runs.changing_run import Outside, idle
from tests.harness.runs.planted_faults import (
    SKEWED_KEYS,
    begin_both,
    go_on_alone,
    joined_remotely,
    remote_table,
    two_streams,
)
from tests.harness.runs.run_systems import ON_SPARK
from tests.harness.runs.watched_loop import WatchedLoop

pytestmark = pytest.mark.browser
EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
STREAMS = [EVENTS, {"name": "out"}]
WITHIN = 60_000.0
"""Milliseconds in which each fault has to be found."""
SENT = {"name": "sent", "sendTo": {"from": "events", "stream": "out"}}


def row(page: Page, section: str, text: str) -> Locator:
    return page.locator(f"#{section} tbody tr", has_text=text)


@ON_SPARK
def test_a_stream_that_has_stopped_while_windows_wait_for_it(env: AppEnv, browser: Browser) -> None:
    begin_both(env)
    run = WatchedLoop.start(env, two_streams())
    run.to_the_end()
    go_on_alone(env, 900)
    run.to_the_end()
    with watched(browser, run) as one:
        alert = one.page.locator("#alerts li")
        expect(alert).to_contain_text("stopped holds back the watermark of both, counted", timeout=WITHIN)
        expect(alert).to_contain_text("14 minutes behind events")
    run.release()


@ON_SPARK
def test_a_key_with_most_of_the_records(env: AppEnv, browser: Browser) -> None:
    env.write("events", inputs([{"user": user, "n": 1} for user in SKEWED_KEYS], "user"), 4)
    run = WatchedLoop.start(env, app(SENT, streams=STREAMS), rows=200)
    run.steps(4)
    with watched(browser, run) as one:
        page = one.page
        alert = page.locator("#alerts li")
        expect(alert).to_contain_text(
            "more processors do not help; look for a key that most records of events#"
        )
        behind = page.locator("#processors tbody tr", has=page.locator("td.warn"))
        expect(behind).to_have_count(1)
        task = behind.locator("td").first.inner_text()
        expect(alert).to_contain_text(f"task {task}, one of 4, has ")
    run.release()


@ON_SPARK
def test_a_producer_of_another_schema(env: AppEnv, browser: Browser) -> None:
    wrong = Input("u1", b'{"user": "u1", "n": "many"}')
    env.write("events", [*inputs([{"user": "u1", "n": 1}] * 5, "user"), wrong, wrong])
    run = WatchedLoop.start(env, app(SENT, streams=STREAMS, onBadRecord={"action": "skip"}))
    run.to_the_end()
    with watched(browser, run) as one:
        page = one.page
        table, samples = page.locator("#left-out table").all()
        expect(table.locator("tbody td")).to_have_text(["events", "2", "hidden, since it may repeat values"])
        expect(samples.locator("tbody tr")).to_have_count(2)
        expect(page.locator("#facts div", has_text="bad")).to_have_text("bad2")
    run.release()


@ON_SPARK
def test_a_remote_table_that_is_slow(env: AppEnv, browser: Browser) -> None:
    env.write("events", inputs([{"user": "u1", "n": 1}], "user"))
    tables = remote_table(env, "SlowFolder")
    (env.data / "service" / "u1").write_text("7")
    operators = joined_remotely("joined"), {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}}
    run = WatchedLoop.start(env, app(*operators, streams=STREAMS, tables=tables))
    run.to_the_end()
    (batch, *_) = [one for one in run.snapshot()["batches"] if one["rowsIn"]]
    step, seconds = max(batch["steps"], key=lambda one: one[1])
    assert (step, seconds > batch["seconds"] / 2) == ("joined", True)
    with watched(browser, run) as one:
        page = one.page
        steps = page.locator("#batches tbody td:last-child").filter(has_text=re.compile(r"joined \d{3} ms"))
        expect(steps).to_have_count(1)
        expect(row(page, "stores", "far").locator("td").nth(4)).to_have_text("1")
    run.release()


@pytest.mark.nightly
def test_an_executor_that_is_lost(tmp_path: Path, browser: Browser) -> None:
    system = EmbeddedSystem(tmp_path / "data")
    for stream in ("events", "out"):
        system.create(stream, 2)
    made = app(SENT, streams=STREAMS, processors=2, rebalanceDelay="1s")
    run = Outside.start(tmp_path, made, 2, "--page")
    try:
        run.until(idle)
        (url,) = [said["url"] for said in run.said if said.get("event") == "page"]
        page = browser.new_page()
        page.goto(url)
        expect(page.locator("#state")).to_have_text("running")
        kill(run.executors()[0])
        write_all(system, "events", inputs([{"user": f"u{n}", "n": n} for n in range(8)], "user"), 2)
        loss = re.compile(r"a process was lost|the lane of processor-\d was lost")
        expect(page.locator("#notes tbody tr").filter(has_text=loss).first).to_be_visible(timeout=WITHIN)
        expect(page.locator("#state")).to_have_text("running", timeout=120_000)
        page.close()
        assert run.end() == os.EX_OK
    finally:
        run.close()
        system.close()
