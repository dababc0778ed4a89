"""The NetworkPolicy of each app, where the installation has rules for it."""

from dataclasses import replace
from typing import Any

import pytest

from streamapp_operator.reconciler.installation import AppNetworkRules
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

POLICIES = "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies"
OWN_PODS = {"podSelector": {"matchLabels": {"streamapp.dev/app": "app"}}}
MONITORING = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}
ADMINS = {"podSelector": {"matchLabels": {"role": "admin"}}}
BROKERS = {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"protocol": "TCP", "port": 9092}]}


def turn_on(sim: OperatorSim, **rules: Any) -> None:
    sim.installation = replace(sim.installation, network_rules=AppNetworkRules(**rules))


def policies(sim: OperatorSim) -> dict[str, dict[str, Any]]:
    listed = sim.server.ask("GET", POLICIES.format(sim.namespace))["items"]
    return {one["metadata"]["name"]: one["spec"] for one in listed}


def path(sim: OperatorSim) -> str:
    return f"{POLICIES.format(sim.namespace)}/app-pods"


def test_apps_have_none_without_rules(sim: OperatorSim) -> None:
    sim.bring_up(join())
    assert policies(sim) == {}


def test_its_own_pods_reach_each_other_and_everybody_its_metrics(sim: OperatorSim) -> None:
    turn_on(sim)
    sim.bring_up(join())
    assert policies(sim)["app-pods"] == {
        **OWN_PODS,
        "policyTypes": ["Ingress"],
        "ingress": [
            {"from": [OWN_PODS]},
            {"from": [{"namespaceSelector": {}}], "ports": [{"protocol": "TCP", "port": 9404}]},
        ],
    }


def test_the_rules_of_the_installation_name_who_else_may_and_what_pods_reach(sim: OperatorSim) -> None:
    turn_on(sim, scrapers=(MONITORING,), viewers=(ADMINS,), egress=(BROKERS,))
    sim.bring_up(join())
    policy = policies(sim)["app-pods"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["ingress"][1:] == [
        {"from": [MONITORING], "ports": [{"protocol": "TCP", "port": 9404}]},
        {"from": [ADMINS], "ports": [{"protocol": "TCP", "port": 4040}]},
    ]
    dns = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
    assert policy["egress"] == [dns, {"to": [OWN_PODS]}, BROKERS]


def test_it_is_there_before_the_driver(sim: OperatorSim) -> None:
    turn_on(sim)
    sim.apply(join())
    sim.settle()
    written = [
        int(one["metadata"]["resourceVersion"]) for one in (sim.server.ask("GET", path(sim)), sim.driver())
    ]
    assert written == sorted(written)


@pytest.mark.parametrize("rules", [{}, {"scrapers": (MONITORING,), "egress": (BROKERS,)}])
def test_nothing_is_written_while_it_is_as_it_should_be(sim: OperatorSim, rules: dict[str, Any]) -> None:
    turn_on(sim, **rules)
    sim.bring_up(join())
    sim.calls.clear()
    sim.reconcile()
    assert {verb for verb, _ in sim.calls} <= {"list"}


def test_one_that_is_deleted_or_changed_is_as_it_was(sim: OperatorSim) -> None:
    turn_on(sim, scrapers=(MONITORING,))
    sim.bring_up(join())
    before = policies(sim)
    sim.server.ask("DELETE", path(sim))
    sim.settle()
    assert policies(sim) == before
    opened = {"spec": {"ingress": [{}]}}
    sim.server.ask("PATCH", path(sim), opened, "application/merge-patch+json")
    assert policies(sim) != before
    sim.settle()
    assert policies(sim) == before


@ON_REAL_SERVER
def test_rules_that_are_turned_on_changed_and_turned_off_count_at_once_and_restart_nothing(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join())
    turn_on(sim)
    sim.settle()
    assert set(policies(sim)) == {"app-pods"}
    turn_on(sim, egress=(BROKERS,))
    sim.settle()
    assert BROKERS in policies(sim)["app-pods"]["egress"]
    turn_on(sim)
    sim.settle()
    assert "egress" not in policies(sim)["app-pods"]
    sim.installation = replace(sim.installation, network_rules=None)
    sim.settle()
    assert policies(sim) == {}
    assert incarnation_in(sim.driver()) == 1
    assert sim.says("Ready") == ("True", "Running")


@ON_REAL_SERVER
def test_one_of_somebody_else_is_named_and_left_alone(sim: OperatorSim) -> None:
    mine = {"metadata": {"name": "app-pods"}, "spec": {"podSelector": {}}}
    sim.server.ask("POST", POLICIES.format(sim.namespace), mine)
    sim.bring_up(join())
    before = policies(sim)
    turn_on(sim)
    sim.settle()
    assert policies(sim) == before
    assert sim.says("Degraded") == ("True", "NameTaken")
    assert "NetworkPolicy app-pods belongs to another owner" in sim.condition("Degraded")["message"]
    sim.installation = replace(sim.installation, network_rules=None)
    sim.settle()
    assert policies(sim) == before
    assert sim.says("Degraded") == ("False", "Healthy")
