"""What the operator may do once it is installed is what its table says, and enough to give drivers theirs."""

from typing import Any

import pytest

from streamapp_operator.controller.rbac import operator_roles
from streamapp_operator.reconciler.objects import driver_role
from tests.harness.machine.helm import Helm, of_kind, value_set
from tests.harness.operator.operator_processes import app

Granted = set[tuple[str, str, str]]


def granted(rules: list[dict[str, Any]]) -> Granted:
    """Rules as single rights: API group, resource, verb."""
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_of_all_namespaces_it_has_the_cluster_role_of_the_table(helm: Helm) -> None:
    objects = helm.objects()
    role = of_kind(objects, "ClusterRole")["/streamapp-operator:streamapp-system"]
    assert granted(role["rules"]) == granted(operator_roles.cluster_role()["rules"])
    binding = of_kind(objects, "ClusterRoleBinding")["/streamapp-operator:streamapp-system"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


def test_of_some_namespaces_it_has_a_role_in_each_and_nothing_in_the_cluster(helm: Helm) -> None:
    objects = helm.objects(value_set("some-namespaces"))
    roles = of_kind(objects, "Role")
    for namespace in ("shop", "ads"):
        role = roles[f"{namespace}/streamapp-operator"]
        assert granted(role["rules"]) == granted(operator_roles.namespace_role(namespace)["rules"])
    assert {one["kind"] for one in objects if "namespace" not in one["metadata"]} == set()


def test_where_the_lease_is_it_may_lead(helm: Helm) -> None:
    role = of_kind(helm.objects(), "Role")["streamapp-system/streamapp-operator-lead"]
    assert granted(role["rules"]) == granted(operator_roles.leader_election_role("any")["rules"])


@pytest.mark.parametrize("name", ["defaults", "some-namespaces"])
def test_the_page_of_all_apps_has_its_role_and_the_operator_hears_of_it(helm: Helm, name: str) -> None:
    role_name = "/streamapp-operator:streamapp-system-page"
    assert role_name not in of_kind(helm.objects(value_set(name)), "ClusterRole")
    objects = helm.objects(value_set(name), "--set=appsPage.enabled=true")
    role = of_kind(objects, "ClusterRole")[role_name]
    assert granted(role["rules"]) == granted(operator_roles.apps_page_role()["rules"])
    binding = of_kind(objects, "ClusterRoleBinding")[role_name]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    (pod,) = [one["spec"]["template"]["spec"] for one in objects if one["kind"] == "Deployment"]
    assert "--apps-page" in pod["containers"][0]["args"]
    (review,) = [one for one in objects if one["kind"] == "Pod" and "rights" in one["metadata"]["name"]]
    assert {"--check-rights", "--apps-page"} <= set(review["spec"]["containers"][0]["args"])


@pytest.mark.parametrize("name", ["defaults", "some-namespaces", "measured", "replicas"])
def test_every_role_is_bound_to_the_account_that_the_operator_runs_as(helm: Helm, name: str) -> None:
    objects = helm.objects(value_set(name))
    (pod,) = [one["spec"]["template"]["spec"] for one in objects if one["kind"] == "Deployment"]
    for kind in ("RoleBinding", "ClusterRoleBinding"):
        for binding in of_kind(objects, kind).values():
            if "helm.sh/hook" not in binding["metadata"].get("annotations", {}):
                assert [one["name"] for one in binding["subjects"]] == [pod["serviceAccountName"]]
    accounts = of_kind(objects, "ServiceAccount")
    assert f"streamapp-system/{pod['serviceAccountName']}" in accounts


@pytest.mark.parametrize("claims", [True, False])
def test_all_that_a_driver_may_the_operator_may_as_well(helm: Helm, claims: bool) -> None:
    """Kubernetes lets nobody give away more than they have."""
    wanted = app("shop")
    wanted["metadata"]["uid"] = "5b1c"
    given = granted(driver_role.driver_role(wanted, claims=claims)["rules"])
    for name, role in (("defaults", "ClusterRole"), ("some-namespaces", "Role")):
        held: Granted = set()
        for one in of_kind(helm.objects(value_set(name)), role).values():
            held |= granted(one["rules"])
        assert given <= held


def test_who_may_edit_in_the_cluster_may_edit_apps_and_who_may_look_may_look(helm: Helm) -> None:
    roles = of_kind(helm.objects(), "ClusterRole")
    view, edit = (granted(roles[f"/streamapp-{name}:streamapp-system"]["rules"]) for name in ("view", "edit"))
    assert {verb for _, _, verb in view} == {"get", "list", "watch"}
    assert ("streamapp.dev", "streamapps", "create") in edit
    assert ("streamapp.dev", "streamapps/status", "patch") not in edit
    assert {group for group, _, _ in view | edit} == {"streamapp.dev"}


def test_roles_that_somebody_else_makes_are_not_made(helm: Helm) -> None:
    kinds = [
        one["kind"]
        for one in helm.objects(value_set("bound-by-hand"))
        if "helm.sh/hook" not in one["metadata"].get("annotations", {})
    ]
    assert not {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ServiceAccount"} & set(kinds)
