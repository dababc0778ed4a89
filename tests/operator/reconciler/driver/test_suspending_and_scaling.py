"""Suspending, scaling, and an operator that is replaced by a newer one."""

from dataclasses import replace

import pytest

from streamapp.protocol.driver_report import ExecutorBinding
from tests.harness.api_server.mortal_cluster import KilledError, Mortal
from tests.harness.operator.operator_sim import ON_BOTH_SERVERS, ON_REAL_SERVER, OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join


@ON_BOTH_SERVERS
def test_an_app_that_is_suspended_ends_its_driver_and_executors_and_keeps_its_model(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.executor(1)
    model = sim.model()
    sim.edit(suspend=True)
    sim.settle()
    assert sim.status()["phase"] == "Suspending"
    sim.remove("app-driver-1")
    sim.settle()
    sim.remove("app-exec-1")
    sim.settle()
    assert sim.names("pods") == []
    assert sim.says("Suspended") == ("True", "Suspended")
    assert sim.says("Ready") == ("False", "Suspended")
    assert sim.status()["phase"] == "Suspended"
    assert sim.model() == model


@ON_BOTH_SERVERS
def test_an_app_that_goes_on_has_its_tasks_where_they_were(sim: OperatorSim) -> None:
    sim.bring_up(join())
    model = sim.model()
    sim.edit(suspend=True)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    sim.edit(suspend=False)
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.model() == model
    assert sim.status()["driver"]["failures"] == 0


def test_an_app_that_is_suspended_from_the_start_is_planned_and_not_started(sim: OperatorSim) -> None:
    sim.apply(join(suspend=True))
    sim.settle()
    assert sim.names("pods") == []
    assert sim.says("Planned") == ("True", "Planned")
    assert sim.status()["phase"] == "Suspended"


@ON_REAL_SERVER
def test_scaling_is_live(sim: OperatorSim) -> None:
    sim.bring_up(join())
    scaled = sim.kubectl("scale", "-n", sim.namespace, "sapp/app", "--replicas=4")
    assert scaled.returncode == 0, scaled.stderr
    sim.settle()
    assert incarnation_in(sim.driver()) == 1
    model = sim.model()
    assert len(model.processors) == 4
    assert sorted(map(len, model.assignment().values())) == [2, 2, 2, 2]
    assert sim.says("Progressing") == ("True", "ModelChanged")
    assert sim.says("Ready") == ("True", "Running")
    assert sim.status()["phase"] == "Running"
    sim.report()
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")
    assert sim.status()["processors"] == 4


def test_scaling_moves_no_more_tasks_than_it_has_to(sim: OperatorSim) -> None:
    sim.bring_up(join())
    before = sim.model()
    sim.edit(processors=3)
    sim.settle()
    after = sim.model()
    kept = sum(before.owner(task.name) == after.owner(task.name) for task in after.tasks)
    assert kept == 6


def test_an_operator_with_other_defaults_restarts_nothing(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.restart()
    sim.installation = replace(
        sim.installation, image="streamapp-runtime:next", executor_requests={"cpu": "2", "memory": "8Gi"}
    )
    before = sim.versions()
    sim.settle()
    assert sim.versions() == before


def test_a_live_edit_under_another_operator_restarts_nothing_either(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.restart()
    sim.installation = replace(sim.installation, image="streamapp-runtime:next")
    sim.edit(processors=3)
    sim.settle()
    assert incarnation_in(sim.driver()) == 1


def test_an_edit_that_restarts_takes_up_the_new_defaults(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.restart()
    sim.installation = replace(sim.installation, image="streamapp-runtime:next")
    sim.edit(restartNonce=1)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert sim.driver()["spec"]["containers"][0]["image"] == "streamapp-runtime:next"


@ON_BOTH_SERVERS
def test_old_generations_are_taken_away_once_a_newer_one_has_run(sim: OperatorSim) -> None:
    sim.bring_up(join())
    for rows in (10, 11, 12, 13):
        sim.edit(batch={"rows": rows})
        sim.settle()
    kept = [name for name in sim.names("configmaps") if "accepted" in name]
    assert kept == ["app-accepted-1", "app-accepted-5"]


def test_an_edit_that_is_taken_back_before_it_was_acted_on_leaves_no_trace(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(suspend=True)
    sim.mortal = Mortal(sim.cluster, 2)  # a snapshot, and the status that announces the end
    with pytest.raises(KilledError):
        sim.settle()
    assert sim.status()["driver"]["stopping"] == "Suspended"
    sim.restart()
    sim.edit(suspend=False)
    sim.settle()
    assert incarnation_in(sim.driver()) == 1
    assert "stopping" not in sim.status()["driver"]
    sim.end(code=3)
    sim.settle()
    assert sim.status()["driver"]["lastEnding"]["outcome"] == "retry"


def test_tasks_that_wait_for_a_lost_processor_are_told(sim: OperatorSim) -> None:
    sim.bring_up(join())
    assert sim.condition("Ready")["message"] == "all processors work"
    sim.report(binding={"processor-0": ExecutorBinding("node-a", "1")})
    sim.settle()
    assert sim.condition("Ready")["message"] == "4 tasks wait for processor-1"
    moved = dict.fromkeys(sim.model().assignment()["processor-1"], "processor-0")
    sim.report(binding={"processor-0": ExecutorBinding("node-a", "1")}, moved=moved)
    sim.settle()
    assert sim.condition("Ready")["message"] == "all tasks run; away from their processors: 4"
