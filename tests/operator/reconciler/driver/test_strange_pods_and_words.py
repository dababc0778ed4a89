"""Pods whose labels somebody changed, and drivers that write what no driver writes."""

import json
from typing import Any

import pytest

from streamapp.protocol.driver_report import ReportedWarning
from streamapp.spec.reasons import Reason
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join


def label(sim: OperatorSim, pod: str, **labels: Any) -> None:
    """Change labels of a pod as somebody with the right to patch pods can; None takes one away."""
    names = {f"streamapp.dev/{name}": value for name, value in labels.items()}
    path = f"/api/v1/namespaces/{sim.namespace}/pods/{pod}"
    sim.server.ask("PATCH", path, {"metadata": {"labels": names}}, "application/merge-patch+json")


@pytest.mark.parametrize(
    "labels",
    [
        {"role": None},
        {"role": "executor"},
        {"app": None},
        {"app": "other"},
        {"generation": "abc"},
        {"generation": None},
        {"generation": "7"},
        {"incarnation": "0"},
        {"incarnation": None},
        {"incarnation": "99"},
        {"role": None, "app": None, "generation": None, "incarnation": None},
    ],
    ids=str,
)
def test_a_driver_stays_the_apps_only_one_whatever_its_labels_say(
    sim: OperatorSim, labels: dict[str, Any]
) -> None:
    sim.bring_up(join())
    before = sim.status()
    label(sim, "app-driver-1", **labels)
    sim.pass_time(60)
    sim.settle()
    sim.restart()
    sim.settle()
    assert sim.names("pods") == ["app-driver-1"]
    assert sim.status()["driver"] == before["driver"]
    assert sim.says("Ready") == ("True", "Running")
    sim.remove("app-driver-1")
    sim.settle()
    assert sim.names("pods") == ["app-driver-2"]


def test_an_executor_without_its_role_still_holds_the_next_driver_back(sim: OperatorSim) -> None:
    sim.bring_up(join())
    pod = sim.driver()["metadata"]
    sim.executor(1)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["name"], "uid": pod["uid"]}
    path = f"/api/v1/namespaces/{sim.namespace}/pods/app-exec-1"
    sim.server.ask("PATCH", path, {"metadata": {"ownerReferences": [owner]}}, "application/merge-patch+json")
    label(sim, "app-exec-1", role=None)
    sim.fail_driver(60)
    assert sim.drivers() == []
    sim.remove("app-exec-1")
    sim.settle()
    assert [one["metadata"]["name"] for one in sim.drivers()] == ["app-driver-2"]


STRANGE = "a\x1b[31m\x00b\u202ec\n" + "x" * 10_000


def test_words_of_a_report_are_cut_and_escaped_and_their_reason_is_known(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(warnings=(ReportedWarning("Not a reason!\n", "spec.a", STRANGE),))
    sim.settle()
    degraded = sim.condition("Degraded")
    assert degraded["reason"] == "DriverReported"
    assert degraded["message"].startswith("spec.a: a\\x1b[31m\\x00b\\u202ec\nxxx")
    assert len(degraded["message"]) < 2_100
    sim.report(warnings=(ReportedWarning(Reason.EXPANSION_SHRINKS, "spec.a", "b"),))
    sim.settle()
    assert sim.says("Degraded") == ("True", "ExpansionShrinks")


def test_words_of_an_ending_are_cut_and_escaped_and_their_reason_is_known(sim: OperatorSim) -> None:
    sim.bring_up(join())
    last_words = {"outcome": "retry", "reason": "no reason\n", "path": "p\x00", "message": "m\x1b[31m"}
    sim.end(code=3, message=json.dumps(last_words))
    sim.settle()
    ending = sim.status()["driver"]["lastEnding"]
    assert (ending["reason"], ending["path"], ending["message"]) == ("DriverFailed", "p\\x00", "m\\x1b[31m")


def test_a_refusal_of_a_driver_has_a_known_reason(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin()
    last_words = {"outcome": "config", "reason": "x" * 1_000, "path": "", "message": "m\x1b"}
    sim.end(code=1, message=json.dumps(last_words))
    sim.settle()
    assert sim.says("Accepted") == ("False", "InvalidSpec")
    assert sim.condition("Accepted")["message"] == "m\\x1b"
