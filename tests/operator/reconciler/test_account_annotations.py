"""Annotations of the accounts that are made for an app, by which clouds give its pods an identity."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from streamapp.spec.parser import parse_data
from streamapp_operator.reconciler.installation import AllowLists
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

ROLE = "eks.amazonaws.com/role-arn"
SHOP = {ROLE: "arn:aws:iam::111122223333:role/shop-reads"}
OTHER = {ROLE: "arn:aws:iam::111122223333:role/shop-writes"}


@pytest.fixture(autouse=True)
def _allowed(sim: OperatorSim) -> Iterator[None]:
    lists = AllowLists(account_annotations=(f"{ROLE}=arn:aws:iam::111122223333:role/shop-*",))
    sim.installation = replace(sim.installation, allow_lists=lists)
    yield


def annotations(sim: OperatorSim, account: str) -> dict[str, str]:
    (manifest,) = [one for one in sim.objects("serviceaccounts") if one["metadata"]["name"] == account]
    found: dict[str, str] = manifest["metadata"].get("annotations", {})
    return found


def identity(value: dict[str, str]) -> dict[str, Any]:
    return {"serviceAccountAnnotations": value}


def test_the_accounts_of_driver_and_executors_have_each_its_own(sim: OperatorSim) -> None:
    sim.bring_up(join(driver=identity(SHOP), executor=identity(OTHER)))
    assert annotations(sim, "app-driver") == SHOP
    assert annotations(sim, "app-executor") == OTHER


def test_an_edit_of_them_replaces_the_driver_since_tokens_are_given_to_new_pods(sim: OperatorSim) -> None:
    sim.bring_up(join(driver=identity(SHOP)))
    sim.edit(driver=identity(OTHER))
    sim.settle()
    assert sim.says("Progressing") == ("True", "SpecChanged")
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert annotations(sim, "app-driver") == OTHER


@ON_REAL_SERVER
def test_an_annotation_that_is_left_out_is_gone_with_the_next_driver(sim: OperatorSim) -> None:
    sim.bring_up(join(driver=identity(SHOP)))
    sim.edit(driver=identity({ROLE: None}))
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert annotations(sim, "app-driver") == {}


def test_an_annotation_that_somebody_takes_away_is_put_back(sim: OperatorSim) -> None:
    sim.bring_up(join(executor=identity(SHOP)))
    path = f"/api/v1/namespaces/{sim.namespace}/serviceaccounts/app-executor"
    taken = {"metadata": {"annotations": {ROLE: None}}}
    sim.server.ask("PATCH", path, taken, "application/merge-patch+json")
    sim.settle()
    assert annotations(sim, "app-executor") == SHOP


def test_one_that_the_installation_does_not_list_is_refused_and_what_runs_goes_on(sim: OperatorSim) -> None:
    sim.bring_up(join(driver=identity(SHOP)))
    sim.edit(driver=identity({ROLE: "arn:aws:iam::111122223333:role/admin"}))
    sim.settle()
    assert sim.says("Accepted") == ("False", "OutsideAllowList")
    assert f"spec.driver.serviceAccountAnnotations.{ROLE}" in sim.condition("Accepted")["message"]
    assert annotations(sim, "app-driver") == SHOP
    assert incarnation_in(sim.driver()) == 1


@pytest.mark.parametrize("name", ["", "a b", "Cloud.example/role", "/role", "a/b/c", "-a", "x" * 64])
def test_a_name_that_the_api_server_would_refuse_is_refused_before(name: str) -> None:
    (problem,) = parse_data(join(executor=identity({name: "x"}))).problems
    assert problem.path == "spec.executor.serviceAccountAnnotations"
    assert "no name of an annotation" in problem.message


def test_an_account_of_others_is_not_annotated() -> None:
    (problem,) = parse_data(join(driver=identity(SHOP), serviceAccountName="loads")).problems
    assert problem.path == "spec.driver.serviceAccountAnnotations"
    assert "annotate the one in serviceAccountName" in problem.message
