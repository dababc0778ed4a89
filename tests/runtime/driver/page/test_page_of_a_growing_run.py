"""The page of an app whose stream grows while it runs, told by a real loop."""

import json
import time
from typing import Any

from streamapp.placement.placement_reason import PlacementReason
from streamapp_runtime.driver.batches.run_change import change_refused, lanes_changed, model_switched
from streamapp_runtime.driver.page.app_snapshot import app_snapshot, stream_growth
from streamapp_runtime.driver.page.page_recorder import PageRecorder
from tests.harness.runs.app_runs import AppEnv, inputs
from tests.harness.runs.chained_app import chained, numbered
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.run_systems import ON_SPARK


def shown(page: PageRecorder) -> dict[str, Any]:
    """As it arrives in a browser."""
    snapshot: dict[str, Any] = json.loads(json.dumps(app_snapshot(page.facts()), allow_nan=False))
    return snapshot


def placements(page: PageRecorder) -> set[str]:
    """Why tasks are on their processors, as the page reads it."""
    snapshot = shown(page)
    tasks = [task for processor in snapshot["processors"] for task in processor["tasks"]]
    return {snapshot["placements"][task["placement"]] for task in tasks}


@ON_SPARK
def test_the_page_shows_the_model_that_runs_and_the_growth_that_brought_it(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 2), "user"), partitions=2)
    run = Run.start(env, chained())
    page = PageRecorder(time.monotonic, time.time)
    before, lanes_before = run.loop.launch, run.loop.lanes.supervisor.lanes
    page.launched(before)
    assert placements(page) == {PlacementReason.NEW}
    batch = run.loop.step()
    assert batch is not None
    page.batch_committed(batch)
    first = shown(page)
    assert (first["model"], first["growths"], first["notes"]) == (before.model.version, [], [])

    assert stream_growth(page.facts(), "events") == {
        "text": "With 4 partitions instead of 2: 2 tasks as before. The new partitions are read by the"
        " tasks that hold the state of their keys: events#2 by Partition 0, events#3 by Partition 1."
        " The app takes them up between two batches, without a restart (onPartitionChange: live)."
    }
    env.grow("events", 4)
    reasons = run.review()
    page.changed(model_switched(before, lanes_before, run.loop.launch, reasons))
    switched = shown(page)
    assert switched["model"] == before.model.version + 1
    (growth,) = switched["growths"]
    assert (growth["stream"], growth["before"], growth["after"], growth["settled"]) == ("events", 2, 4, False)
    (note,) = switched["notes"]
    assert "events" in note["text"]
    assert placements(page) == {PlacementReason.STAYED}
    (events,) = [row for row in switched["streams"] if row["name"] == "events"]
    assert events["partitions"] == 4
    (processor,) = switched["processors"]
    by_task = {task["name"]: task["partitions"] for task in processor["tasks"]}
    assert by_task == {"Partition 0": ["events#0", "events#2"], "Partition 1": ["events#1", "events#3"]}
    read = sorted(partition for task in processor["tasks"] for partition in task["partitions"])
    assert read == [f"events#{index}" for index in range(4)]
    assert {task["why"] for task in processor["tasks"]} == {"not run by this model yet"}

    while {task["state"] for task in processor["tasks"]} != {"working"}:
        batch = run.loop.step()
        assert batch is not None
        page.batch_committed(batch)
        (processor,) = shown(page)["processors"]

    launch = run.loop.launch
    page.changed(change_refused(launch, launch.lanes, ()))
    page.changed(lanes_changed(launch, launch.lanes, run.loop.lanes.supervisor.assignment))
    snapshot = shown(page)
    assert [one["kind"] for one in snapshot["notes"]] == ["lanes", "refused", "model"]
    assert snapshot["state"] == "running"

    assignment = run.loop.lanes.supervisor.assignment
    (name,) = launch.lanes
    for present, waits in (((), [f"{name} is missing: 2 tasks wait for it"]), ((name,), [])):
        assignment.lanes(present)
        page.changed(lanes_changed(launch, launch.lanes, assignment))
        assert [wait["text"] for wait in shown(page)["waits"]] == waits
    run.loop.release()
