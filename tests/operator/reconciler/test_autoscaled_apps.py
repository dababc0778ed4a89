"""Autoscaling through a real API server: the resource's processors are set, and all else follows."""

from typing import Any

import pytest

from streamapp.protocol.driver_report import DriverState, Progress
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

CALM = Progress(0, 0, 10)
LOADED = Progress(16_384, 0, 100)


def scaled(**fields: Any) -> dict[str, Any]:
    return join(processors=2, autoscale={"max": 6, "targetLag": 4_000, **fields})


def processors(sim: OperatorSim) -> int:
    return int(sim.app()["spec"]["processors"])


def look(sim: OperatorSim, progress: Progress) -> None:
    """The driver runs what it was told to, and says how it goes."""
    sim.report(progress=progress)
    sim.settle()


@ON_REAL_SERVER
def test_lag_raises_the_processors_and_the_job_model_follows(sim: OperatorSim) -> None:
    sim.bring_up(scaled())
    look(sim, LOADED)
    assert processors(sim) == 4
    assert len(sim.model().processors) == 4
    assert sim.app()["status"]["acceptedGeneration"] == 2
    (event,) = [text for _, reason, text in sim.events() if reason == "Scaled"]
    assert event == "from 2 to 4 processors: lag at most 16384, 4000 for each"
    status = sim.status()["autoscale"]
    assert (status["processors"], "changedAt" in status) == (4, True)
    assert sim.drivers()[-1]["metadata"]["name"] == "app-driver-1", "the driver goes on"


@ON_REAL_SERVER
def test_the_next_change_waits_until_the_last_one_could_take_effect(sim: OperatorSim) -> None:
    sim.bring_up(scaled())
    look(sim, LOADED)
    look(sim, LOADED)
    assert processors(sim) == 4
    sim.pass_time(61)
    look(sim, Progress(32_768, 0, 100))
    assert processors(sim) == 6
    texts = [text for _, reason, text in sim.events() if reason == "Scaled"]
    assert texts[-1].endswith("bounded by max 6")


@ON_REAL_SERVER
def test_calm_lowers_the_processors_after_the_cooldown_by_time_alone(sim: OperatorSim) -> None:
    sim.bring_up(scaled(cooldown="2m"))
    look(sim, CALM)
    assert (processors(sim), sim.status()["autoscale"]["wanted"]) == (2, 1)
    sim.pass_time(60)
    sim.settle()
    assert processors(sim) == 2
    sim.pass_time(61)
    sim.settle()
    assert processors(sim) == 1


@ON_REAL_SERVER
def test_a_restart_of_the_operator_forgets_nothing(sim: OperatorSim) -> None:
    sim.bring_up(scaled(cooldown="2m"))
    look(sim, CALM)
    sim.pass_time(121)
    sim.restart()
    sim.settle()
    assert processors(sim) == 1


@pytest.mark.parametrize("state", [DriverState.WAITING, DriverState.RESTORING])
def test_while_the_app_is_not_running_nothing_is_scaled(sim: OperatorSim, state: DriverState) -> None:
    sim.bring_up(scaled())
    sim.report(state, progress=LOADED)
    sim.settle()
    assert processors(sim) == 2
    assert sim.status()["autoscale"]["message"] == "waits until the app runs as asked"


def test_a_refused_edit_is_not_scaled_and_a_suspended_app_neither(sim: OperatorSim) -> None:
    sim.bring_up(scaled())
    operators = sim.app()["spec"]["operators"]
    selected = [{**operators[0]["joinTable"], "select": "user, none_such"}, operators[1]["sendTo"]]
    sim.edit(operators=[{"name": "joined", "joinTable": selected[0]}, {"name": "out", "sendTo": selected[1]}])
    look(sim, LOADED)
    assert (processors(sim), sim.says("Accepted")[0]) == (2, "False")
    sim.edit(operators=operators, suspend=True)
    look(sim, LOADED)
    assert processors(sim) == 2
    assert "autoscale" not in sim.status()


@ON_REAL_SERVER
def test_processors_that_somebody_sets_by_hand_stay_for_a_while(sim: OperatorSim) -> None:
    sim.bring_up(scaled())
    sim.edit(processors=5)
    look(sim, CALM)
    assert processors(sim) == 5
    sim.edit(processors=9)
    look(sim, CALM)
    assert processors(sim) == 6, "max"


def test_an_app_without_autoscaling_has_no_such_status_and_keeps_its_processors(sim: OperatorSim) -> None:
    sim.bring_up(join(processors=2))
    look(sim, LOADED)
    assert (processors(sim), "autoscale" in sim.status()) == (2, False)
