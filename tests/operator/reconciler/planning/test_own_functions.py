"""An app's own grouper and expansion algorithm: the driver asks them, the operator plans with the answers."""

from typing import Any

import pytest

from streamapp.author.proposal import PlanningInputs
from streamapp.protocol.driver_report import DriverState, Report, ReportedWarning
from streamapp.protocol.report_codec import decode_report, encode_report
from streamapp.protocol.termination import RunOutcome
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.partition import Partition
from streamapp.tasks.user_answers import UserAnswers
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_runtime.driver.start.user_functions import load_user_functions, proposed_with_answers
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

CODE = "tests.harness.user_code.grouper_code"
OWN = {"grouper": f"{CODE}:halves", "config": {ALGORITHM: f"{CODE}:from_the_last"}}
EIGHT = {"views": 8, "users": 8}
TWELVE = {"views": 12, "users": 8}


def answered(resource: dict[str, Any], counts: dict[str, int], layout: Layout | None = None) -> UserAnswers:
    """What the app's own functions say in its driver, after the way through a report."""
    (app,) = parse_data(resource).apps
    functions = load_user_functions(app)
    inputs = PlanningInputs(counts, layout, algorithm=functions.algorithm, grouper=functions.grouper)
    _, answers = proposed_with_answers(app, inputs)
    assert answers is not None
    return answers


def start(sim: OperatorSim, resource: dict[str, Any]) -> None:
    """The app is applied, and its driver asks for a model with the answers of the app's functions."""
    sim.apply(resource)
    sim.settle()
    assert sim.wanted().model is None
    sim.begin()
    sim.report(
        DriverState.STARTING,
        run_id="run-1",
        layout=Layout("run-1", OWN["grouper"]),
        answers=answered(resource, EIGHT),
    )
    sim.settle()


def bring_up(sim: OperatorSim, resource: dict[str, Any]) -> None:
    start(sim, resource)
    sim.report(answers=answered(resource, EIGHT))
    sim.settle()


def tasks(sim: OperatorSim) -> dict[str, list[int]]:
    return {
        task.name: [one.index for one in task.partitions if one.stream == "views"]
        for task in sim.model().tasks
    }


def test_an_app_is_accepted_and_its_driver_started_to_ask_its_functions(sim: OperatorSim) -> None:
    sim.apply(join(**OWN))
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")
    assert sim.says("Planned") == ("True", "PlannedByDriver")
    assert "own grouper and expansion algorithm, in the app's image" in sim.condition("Planned")["message"]
    assert incarnation_in(sim.driver()) == 1
    assert sim.wanted().model is None


def test_the_model_follows_the_answers_and_the_same_driver_takes_it(sim: OperatorSim) -> None:
    start(sim, join(**OWN))
    assert incarnation_in(sim.driver()) == 1
    assert sim.model().run_id == "run-1"
    assert tasks(sim) == {"east": [0, 2, 4, 6], "west": [1, 3, 5, 7]}
    assert sim.says("Planned") == ("True", "Planned")
    sim.report(answers=answered(join(**OWN), EIGHT))
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")
    assert sim.status()["tasks"] == 2


def test_it_is_scaled_by_the_operator_without_a_question(sim: OperatorSim) -> None:
    bring_up(sim, join(**OWN))
    sim.edit(processors=1)
    sim.settle()
    assert incarnation_in(sim.driver()) == 1
    assert list(sim.model().assignment()) == ["processor-0"]
    assert tasks(sim) == {"east": [0, 2, 4, 6], "west": [1, 3, 5, 7]}


@pytest.mark.parametrize("counted", [EIGHT, TWELVE])
def test_its_next_driver_starts_with_the_model_of_the_last_answers(
    sim: OperatorSim, counted: dict[str, int]
) -> None:
    bring_up(sim, join(**OWN))
    sim.table.answer = KnownCounts({**counted, "enriched": 8})
    sim.pass_time(60)
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert tasks(sim) == {"east": [0, 2, 4, 6], "west": [1, 3, 5, 7]}


def test_a_growth_waits_for_the_answers_and_follows_them(sim: OperatorSim) -> None:
    resource = join(**OWN, onPartitionChange="live")
    bring_up(sim, resource)
    sim.report(counts=TWELVE, answers=answered(resource, EIGHT))
    sim.settle()
    assert len(sim.model().task("east").partitions) == 8
    sim.report(counts=TWELVE, answers=answered(resource, TWELVE, sim.wanted().layout))
    sim.settle()
    # The algorithm sends 8 to 7, 9 to 6, 10 to 5 and 11 to 4.
    assert tasks(sim) == {"east": [0, 2, 4, 6, 9, 11], "west": [1, 3, 5, 7, 8, 10]}


def test_what_the_driver_warns_of_is_told_and_the_tasks_stay(sim: OperatorSim) -> None:
    bring_up(sim, join(**OWN))
    model = sim.model()
    warning = ReportedWarning(
        "ExpansionAlgorithmInvalid", "spec.streams[0]", "the expansion algorithm gave 99"
    )
    sim.report(counts=TWELVE, answers=answered(join(**OWN), EIGHT), warnings=(warning,))
    sim.settle()
    assert sim.says("Degraded") == ("True", "ExpansionAlgorithmInvalid")
    assert sim.says("Ready") == ("True", "Running")
    assert sim.model() == model


def test_an_edit_that_names_another_stream_asks_the_next_driver(sim: OperatorSim) -> None:
    resource = join(**OWN)
    bring_up(sim, resource)
    resource["spec"]["streams"].append(
        {"name": "more", "system": "main", "key": "user", "columns": "user STRING"}
    )
    resource["spec"]["operators"].append({"name": "out2", "sendTo": {"from": "more", "stream": "enriched"}})
    sim.table.answer = KnownCounts({**EIGHT, "more": 4, "enriched": 8})
    sim.apply(resource)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.wanted().model is None


def test_the_layout_of_a_grown_stream_stays_while_the_next_driver_is_asked(sim: OperatorSim) -> None:
    """The first report of a driver has no layout, and by today's counts alone the join would not agree."""
    resource = join(**OWN, onPartitionChange="live")
    bring_up(sim, resource)
    sim.report(counts=TWELVE, answers=answered(resource, TWELVE, sim.wanted().layout))
    sim.settle()
    layout = sim.wanted().layout
    assert layout is not None
    sim.table.answer = KnownCounts({**TWELVE, "enriched": 8})
    sim.edit(config={ALGORITHM: f"{CODE}:another"})
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.wanted().model is None
    assert sim.wanted().layout == layout
    sim.begin("app-driver-2")
    sim.report(DriverState.STARTING, counts=TWELVE, layout=None)
    sim.settle()
    assert sim.says("Planned")[0] != "False"


def test_a_refusal_of_the_driver_is_the_app_s(sim: OperatorSim) -> None:
    sim.apply(join(grouper=f"{CODE}:forgetful"))
    sim.settle()
    sim.begin()
    ending = (
        '{"outcome": "config", "reason": "GrouperInvalid", "path": "spec.grouper", '
        '"message": "the grouper left out users#0; return every given partition in exactly one task"}'
    )
    sim.end(code=1, message=ending)
    sim.settle()
    assert RunOutcome.CONFIG in ending
    assert sim.says("Accepted") == ("False", "GrouperInvalid")
    assert sim.says("Stalled") == ("True", "GrouperInvalid")
    assert "spec.grouper: the grouper left out users#0" in sim.condition("Accepted")["message"]


def test_answers_that_break_the_contract_are_refused_by_the_operator_too(sim: OperatorSim) -> None:
    resource = join(**OWN)
    bring_up(sim, resource)
    model, sound = sim.model(), answered(resource, TWELVE, sim.wanted().layout)
    wild = {growth: {**indexes, 11: 99} for growth, indexes in sound.initial_indexes.items()}
    sim.report(counts=TWELVE, answers=UserAnswers(sound.functions, sound.counts, sound.tasks, wild))
    sim.settle()
    assert sim.says("Degraded") == ("True", "ExpansionAlgorithmInvalid")
    assert sim.model() == model


def test_answers_come_back_from_a_report_as_they_were() -> None:
    answers = answered(join(**OWN), EIGHT)
    read = decode_report(encode_report(Report(DriverState.RUNNING, answers=answers))).answers
    assert read == answers
    assert answers.tasks[Partition("views", 3)] == "west"
