"""An edit that needs a restart is put before the running driver, and what it refuses ends nothing."""

from typing import Any

import pytest

from streamapp.protocol.accepted_app import decode_accepted
from streamapp.protocol.driver_report import CandidateVerdict, ReportedWarning
from streamapp.protocol.message_names import CANDIDATE
from streamapp_operator.reconciler.planning.candidate import VERDICT_SECONDS
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

OPERATORS = join()["spec"]["operators"]
EDIT = {"operators": [*OPERATORS, {"name": "few", "filter": {"from": "views", "where": "true"}}]}
REFUSALS = (
    ReportedWarning("UserCodeFailed", "spec.operators[2].process", "shop:Score cannot be loaded"),
    ReportedWarning("InvalidSpec", "spec.operators[3].select", "no such function"),
)


@pytest.fixture
def running(sim: OperatorSim) -> OperatorSim:
    """An app whose driver can be asked."""
    sim.apply(join())
    sim.settle()
    sim.begin()
    sim.report(generation=1, verdict=CandidateVerdict(1))
    sim.settle()
    return sim


def candidate(sim: OperatorSim) -> int:
    """The generation that the driver is asked about; 0 where it is asked about none."""
    text = sim.config_map("app-job-model")["data"].get(CANDIDATE)
    return decode_accepted(text).generation if text else 0


def test_the_driver_is_asked_and_ended_only_after_it_has_agreed(running: OperatorSim) -> None:
    running.edit(**EDIT)
    running.settle()
    assert running.says("Accepted") == ("Unknown", "AwaitingDriver")
    assert running.says("Ready")[0] == "True"
    assert candidate(running) == 2
    running.report(generation=1, verdict=CandidateVerdict(2))
    running.settle()
    assert running.says("Accepted")[0] == "True"
    assert running.says("Progressing") == ("True", "SpecChanged")


@pytest.mark.parametrize(
    "edit",
    [
        {"placement": {"location": "shop.places:rack"}},
        {"config": {"job.systemstreampartition.expansion.algorithm": "shop.keys:hashed"}},
        {"resetNonce": 1, **EDIT},
        {"driver": {"resources": {"requests": {"memory": "3Gi"}}}, **EDIT},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_the_driver_is_asked_about_whatever_may_be_refused(
    running: OperatorSim, edit: dict[str, Any]
) -> None:
    running.edit(**edit)
    running.settle()
    assert candidate(running) == 2


@ON_REAL_SERVER
def test_what_the_driver_refuses_is_told_whole_and_the_driver_goes_on(running: OperatorSim) -> None:
    running.edit(**EDIT)
    running.settle()
    running.report(generation=1, verdict=CandidateVerdict(2, REFUSALS))
    running.settle()
    assert running.says("Accepted") == ("False", "UserCodeFailed")
    message = running.condition("Accepted")["message"]
    assert message.split("\n") == [f"{refusal.path}: {refusal.message}" for refusal in REFUSALS]
    assert running.says("Ready") == ("True", "Running")
    assert running.says("Progressing") == ("False", "Stable")
    assert candidate(running) == 0
    assert incarnation_in(running.driver()) == 1


def test_a_refusal_outlives_the_driver_and_the_operator(running: OperatorSim) -> None:
    running.edit(**EDIT)
    running.settle()
    running.report(generation=1, verdict=CandidateVerdict(2, REFUSALS))
    running.settle()
    running.restart()
    running.fail_driver(seconds=10)
    assert running.says("Accepted") == ("False", "UserCodeFailed")
    assert running.drivers()[-1]["metadata"]["labels"]["streamapp.dev/generation"] == "1"
    running.edit(operators=OPERATORS)
    running.settle()
    assert running.says("Accepted")[0] == "True"


def test_a_driver_without_an_answer_holds_an_edit_up_for_half_a_minute(running: OperatorSim) -> None:
    running.edit(**EDIT)
    outcome = running.settle()
    assert outcome.seconds == VERDICT_SECONDS
    running.pass_time(VERDICT_SECONDS / 2)
    running.restart()  # an operator that remembers nothing counts from the same moment
    assert running.settle().seconds == VERDICT_SECONDS / 2
    running.pass_time(VERDICT_SECONDS)
    running.settle()
    assert running.says("Accepted")[0] == "True"
    assert running.says("Progressing") == ("True", "SpecChanged")


@pytest.mark.parametrize(
    "edit",
    [
        {"image": "other:2", **EDIT},
        {"env": [{"name": "A", "value": "b"}], **EDIT},
        {"code": {"configMap": "more"}, **EDIT},
        {"restartNonce": 1},
        {"suspend": True, **EDIT},
        {"systems": [{"name": "main", "kafka": {"bootstrapServers": "other:9092"}}], **EDIT},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_a_driver_is_not_asked_about_what_it_cannot_know(running: OperatorSim, edit: dict[str, Any]) -> None:
    running.edit(**edit)
    running.settle()
    assert running.says("Accepted")[0] == "True"
    assert candidate(running) == 0


def test_a_driver_of_an_earlier_version_is_not_asked(running: OperatorSim) -> None:
    running.report(generation=1)
    running.edit(**EDIT)
    running.settle()
    assert running.says("Accepted")[0] == "True"


@ON_REAL_SERVER
def test_an_edit_of_the_edit_is_another_candidate(running: OperatorSim) -> None:
    running.edit(**EDIT)
    running.settle()
    running.edit(stateChanges="accept")
    running.settle()
    assert candidate(running) == 3
    running.edit(stateChanges=None, operators=OPERATORS)
    running.settle()
    assert running.says("Accepted")[0] == "True"
    assert candidate(running) == 0
    running.report(generation=4, verdict=CandidateVerdict(2))
    running.settle()
    assert running.says("Progressing") == ("False", "Stable")
    assert incarnation_in(running.driver()) == 1
