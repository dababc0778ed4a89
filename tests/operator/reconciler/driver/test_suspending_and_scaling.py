"""Suspending, scaling, and an operator that is replaced by a newer one."""

from dataclasses import replace

import pytest

from tests.harness.api_server.mortal_cluster import KilledError, Mortal
from tests.harness.operator.reconcile_stage import Stage
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join


def test_an_app_that_is_suspended_ends_its_driver_and_executors_and_keeps_its_model(stage: Stage) -> None:
    stage.bring_up(join())
    stage.executor(1)
    model = stage.model()
    stage.edit(suspend=True)
    stage.settle()
    assert stage.status()["phase"] == "Suspending"
    stage.remove("app-driver-1")
    stage.settle()
    stage.remove("app-exec-1")
    stage.settle()
    assert stage.names("pods") == []
    assert stage.says("Suspended") == ("True", "Suspended")
    assert stage.says("Ready") == ("False", "Suspended")
    assert stage.status()["phase"] == "Suspended"
    assert stage.model() == model


def test_an_app_that_goes_on_has_its_tasks_where_they_were(stage: Stage) -> None:
    stage.bring_up(join())
    model = stage.model()
    stage.edit(suspend=True)
    stage.settle()
    stage.remove("app-driver-1")
    stage.settle()
    stage.edit(suspend=False)
    stage.settle()
    assert incarnation_in(stage.driver()) == 2
    assert stage.model() == model
    assert stage.status()["driver"]["failures"] == 0


def test_an_app_that_is_suspended_from_the_start_is_planned_and_not_started(stage: Stage) -> None:
    stage.apply(join(suspend=True))
    stage.settle()
    assert stage.names("pods") == []
    assert stage.says("Planned") == ("True", "Planned")
    assert stage.status()["phase"] == "Suspended"


def test_scaling_is_live(stage: Stage) -> None:
    stage.bring_up(join())
    scaled = stage.kubectl("scale", "-n", stage.namespace, "sapp/app", "--replicas=4")
    assert scaled.returncode == 0, scaled.stderr
    stage.settle()
    assert incarnation_in(stage.driver()) == 1
    model = stage.model()
    assert len(model.processors) == 4
    assert sorted(map(len, model.assignment().values())) == [2, 2, 2, 2]
    assert stage.says("Progressing") == ("True", "ModelChanged")
    stage.report()
    stage.settle()
    assert stage.says("Ready") == ("True", "Running")
    assert stage.status()["processors"] == 4


def test_scaling_moves_no_more_tasks_than_it_has_to(stage: Stage) -> None:
    stage.bring_up(join())
    before = stage.model()
    stage.edit(processors=3)
    stage.settle()
    after = stage.model()
    kept = sum(before.owner(task.name) == after.owner(task.name) for task in after.tasks)
    assert kept == 6


def test_an_operator_with_other_defaults_restarts_nothing(stage: Stage) -> None:
    stage.bring_up(join())
    stage.restart()
    stage.installation = replace(
        stage.installation, image="streamapp-runtime:next", executor_requests={"cpu": "2", "memory": "8Gi"}
    )
    before = stage.versions()
    stage.settle()
    assert stage.versions() == before


def test_a_live_edit_under_another_operator_restarts_nothing_either(stage: Stage) -> None:
    stage.bring_up(join())
    stage.restart()
    stage.installation = replace(stage.installation, image="streamapp-runtime:next")
    stage.edit(processors=3)
    stage.settle()
    assert incarnation_in(stage.driver()) == 1


def test_an_edit_that_restarts_takes_up_the_new_defaults(stage: Stage) -> None:
    stage.bring_up(join())
    stage.restart()
    stage.installation = replace(stage.installation, image="streamapp-runtime:next")
    stage.edit(restartNonce=1)
    stage.settle()
    stage.remove("app-driver-1")
    stage.settle()
    assert stage.driver()["spec"]["containers"][0]["image"] == "streamapp-runtime:next"


def test_old_generations_are_taken_away_once_a_newer_one_has_run(stage: Stage) -> None:
    stage.bring_up(join())
    for rows in (10, 11, 12, 13):
        stage.edit(batch={"rows": rows})
        stage.settle()
    kept = [name for name in stage.names("configmaps") if "accepted" in name]
    assert kept == ["app-accepted-1", "app-accepted-5"]


def test_an_edit_that_is_taken_back_before_it_was_acted_on_leaves_no_trace(stage: Stage) -> None:
    stage.bring_up(join())
    stage.edit(suspend=True)
    stage.mortal = Mortal(stage.cluster, 2)  # a snapshot, and the status that announces the end
    with pytest.raises(KilledError):
        stage.settle()
    assert stage.status()["driver"]["stopping"] == "Suspended"
    stage.restart()
    stage.edit(suspend=False)
    stage.settle()
    assert incarnation_in(stage.driver()) == 1
    assert "stopping" not in stage.status()["driver"]
    stage.end(code=3)
    stage.settle()
    assert stage.status()["driver"]["lastEnding"]["outcome"] == "retry"
