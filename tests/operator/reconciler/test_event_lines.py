"""Every event of an app is also a line of the operator's log, with the same reason and text."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from streamapp.protocol.driver_report import DriverState
from streamapp_operator.controller.telemetry.json_logs import JsonFormatter
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What the operator logs from level `info` on, as it formats it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    log = logging.getLogger("streamapp_operator")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield stream
    log.removeHandler(handler)
    log.setLevel(level)


def event_lines(lines: io.StringIO) -> list[dict[str, Any]]:
    parsed = [json.loads(line) for line in lines.getvalue().splitlines()]
    return [line for line in parsed if "event" in line]


def reasons(lines: io.StringIO) -> list[str]:
    return [line["reason"] for line in event_lines(lines)]


def test_the_lines_are_the_events_that_the_cluster_has(sim: OperatorSim, lines: io.StringIO) -> None:
    sim.bring_up(join())
    sim.fail_driver(60)
    logged = {(line["event"], line["reason"], line["message"]) for line in event_lines(lines)}
    assert logged == set(sim.events())
    levels = {line["event"]: line["level"] for line in event_lines(lines)}
    assert levels == {"Normal": "info", "Warning": "warning"}


def test_launches_and_failures_have_lines_in_their_order(sim: OperatorSim, lines: io.StringIO) -> None:
    sim.bring_up(join())
    assert reasons(lines).index("Launched") < reasons(lines).index("Running")
    sim.fail_driver(60)
    after = reasons(lines)[reasons(lines).index("Running") :]
    assert after.index("DriverFailed") < after.index("Launched")


def test_a_restart_for_an_edit_names_the_fields(sim: OperatorSim, lines: io.StringIO) -> None:
    sim.bring_up(join())
    sim.edit(restartNonce=1)
    sim.settle()
    (line,) = [line for line in event_lines(lines) if line["reason"] == "SpecChanged"]
    assert "restartNonce" in line["message"]


def test_a_refused_edit_is_a_warning(sim: OperatorSim, lines: io.StringIO) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="of-somebody-else")
    sim.settle()
    (line,) = [line for line in event_lines(lines) if line["reason"] == "OutsideAllowList"]
    assert (line["event"], line["level"]) == ("Warning", "warning")


def test_a_job_model_that_moves_tasks_has_a_line(sim: OperatorSim, lines: io.StringIO) -> None:
    sim.bring_up(join())
    sim.edit(processors=4)
    sim.settle()
    assert reasons(lines).count("ModelChanged") == 1


def test_tasks_that_move_after_a_lost_executor_are_one_event_and_their_return_is_another(
    sim: OperatorSim, lines: io.StringIO
) -> None:
    sim.bring_up(join())
    model = sim.model()
    task = model.tasks[0].name
    other = next(name for name in model.processors if name != model.owner(task))
    for _ in range(2):
        sim.report(moved={task: other})
        sim.settle()
        sim.restart()
    (line,) = [line for line in event_lines(lines) if line["reason"] == "TasksMoved"]
    assert f"{task} to {other}" in line["message"]
    assert sim.status()["jobModel"]["movedTasks"] == 1
    assert sim.condition("Ready")["message"] == "all tasks run; away from their processors: 1"
    sim.report(DriverState.WAITING, binding={})  # another executor is lost; the driver does not know yet
    sim.settle()
    assert reasons(lines).count("TasksReturned") == 0
    for _ in range(2):
        sim.report()
        sim.settle()
    assert reasons(lines).count("TasksReturned") == 1
    assert "movedTasks" not in sim.status()["jobModel"]
    assert sim.condition("Ready")["message"] == "all processors work"


def test_an_app_stays_ready_while_its_driver_works_by_the_job_model_before(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(processors=4)
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")
    assert sim.says("Progressing") == ("True", "ModelChanged")
    sim.report(DriverState.SWITCHING)
    sim.settle()
    assert sim.says("Ready")[0] == "False"
    sim.report()
    sim.settle()
    assert (sim.says("Ready"), sim.says("Progressing")[0]) == (("True", "Running"), "False")


def test_an_object_of_somebody_else_is_an_event_once(sim: OperatorSim, lines: io.StringIO) -> None:
    path = f"/api/v1/namespaces/{sim.namespace}/configmaps"
    sim.server.ask("POST", path, {"metadata": {"name": "app-report"}, "data": {"mine": "1"}})
    sim.apply(join())
    for _ in range(3):
        sim.reconcile()
    assert reasons(lines).count("NameTaken") == 1
    assert [reason for _, reason, _ in sim.events()].count("NameTaken") == 1


def test_an_app_at_rest_writes_no_line(sim: OperatorSim, lines: io.StringIO) -> None:
    sim.bring_up(join())
    before = len(event_lines(lines))
    for _ in range(3):
        sim.pass_time(60)
        sim.reconcile()
    assert len(event_lines(lines)) == before
