"""What the operator measures of each app, with a real API server."""

import time

from streamapp.protocol.driver_report import Progress
from streamapp_operator.reconciler.pause import PAUSE_ANNOTATION
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

CONDITION = "streamapp_app_condition"
INFO = "streamapp_app_info"
LAG = "streamapp_app_lag_rows"
PHASE = "streamapp_app_phase"
REPORTED = "streamapp_app_last_report_timestamp_seconds"
RESTARTS = "streamapp_app_restarts_total"
METRICS = (CONDITION, INFO, LAG, PHASE, REPORTED, RESTARTS)


def test_an_app_that_runs_has_its_phase_and_one_sample_for_each_condition(sim: OperatorSim) -> None:
    sim.bring_up(join())
    application_id = f"{sim.namespace}.app"
    assert sim.samples(INFO) == {("app", application_id, "streamapp-runtime:test", "accepted"): 1}
    assert sim.samples(PHASE) == {("app", "Running"): 1}
    assert sim.samples(RESTARTS) == {("app",): 0}
    conditions = {("app", one["type"], one["status"]): 1 for one in sim.status()["conditions"]}
    assert sim.samples(CONDITION) == conditions
    assert ("app", "Ready", "True") in conditions


def test_the_image_is_that_of_the_drivers_own_container(sim: OperatorSim) -> None:
    """A container of the user's template stands before it."""
    template = {"spec": {"containers": [{"name": "beside", "image": "proxy:1"}]}}
    sim.bring_up(join(driver={"template": template}))
    assert [one["name"] for one in sim.driver()["spec"]["containers"]] == ["beside", "driver"]
    assert sim.samples(INFO) == {("app", f"{sim.namespace}.app", "streamapp-runtime:test", "accepted"): 1}


def test_before_the_first_report_there_is_neither_lag_nor_a_time(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    assert sim.samples(PHASE) == {("app", "Launching"): 1}
    assert sim.samples(LAG) == sim.samples(REPORTED) == {}


@ON_REAL_SERVER
def test_lag_and_time_are_those_of_the_last_report(sim: OperatorSim) -> None:
    sim.bring_up(join())
    assert sim.samples(LAG) == {("app",): 0}
    before = time.time()
    sim.report(progress=Progress(lag=4096))
    sim.settle()
    assert sim.samples(LAG) == {("app",): 4096}
    (reported,) = sim.samples(REPORTED).values()
    assert int(before) <= reported <= time.time()


@ON_REAL_SERVER
def test_the_time_of_a_report_does_not_move_with_what_the_operator_writes(sim: OperatorSim) -> None:
    sim.bring_up(join())
    reported = sim.samples(REPORTED)
    while time.time() < next(iter(reported.values())) + 1.5:
        sim.edit(processors=3)
        sim.settle()
        sim.edit(processors=2)
        sim.settle()
    assert sim.samples(REPORTED) == reported


def test_a_restart_is_counted_and_outlives_the_operator(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.fail_driver(60)
    assert sim.samples(RESTARTS) == {("app",): 1}
    sim.restart()
    assert sim.samples(RESTARTS) == {}
    sim.settle()
    assert sim.samples(RESTARTS) == {("app",): 1}


def test_a_paused_app_keeps_what_was_measured_of_its_driver(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(progress=Progress(lag=64))
    sim.settle()
    reported = sim.samples(REPORTED)
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app"
    metadata = {"metadata": {"annotations": {PAUSE_ANNOTATION: "true"}}}
    sim.server.ask("PATCH", path, metadata, "application/merge-patch+json")
    sim.settle()
    assert ("app", "ReconciliationPaused", "True") in sim.samples(CONDITION)
    assert (sim.samples(LAG), sim.samples(REPORTED)) == ({("app",): 64}, reported)
    sim.restart()
    sim.settle()
    assert ("app", "Ready", "True") in sim.samples(CONDITION)
    assert sim.samples(LAG) == {}


@ON_REAL_SERVER
def test_an_app_whose_pods_are_refused_is_measured_with_what_its_status_says(sim: OperatorSim) -> None:
    sim.apply(join(driver={"template": {"spec": {"priorityClassName": "no-such-class"}}}))
    sim.settle()
    assert sim.samples(PHASE) == {("app", "Rejected"): 1}
    assert ("app", "Stalled", "True") in sim.samples(CONDITION)


def test_an_app_that_is_gone_leaves_no_sample(sim: OperatorSim) -> None:
    for name in ("app", "other"):
        sim.apply(join(name))
        sim.settle(name)
    assert sim.samples(PHASE).keys() == {("app", "Launching"), ("other", "Launching")}
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/other"
    sim.server.ask("DELETE", path)
    sim.reconcile("other")
    assert sim.samples(PHASE).keys() == {("app", "Launching")}
    assert not [labels for metric in METRICS for labels in sim.samples(metric) if labels[0] == "other"]
