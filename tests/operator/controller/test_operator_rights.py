"""What the operator may do: no more than the table says, and no wildcard in it."""

from streamapp_operator.controller.client.resource_kinds import KINDS, NODE
from streamapp_operator.controller.rbac import operator_roles
from streamapp_operator.controller.rbac.operator_rights import RIGHTS


def _all_rules() -> list[dict[str, list[str]]]:
    roles = (
        operator_roles.cluster_role(),
        operator_roles.namespace_role("shop"),
        operator_roles.leader_election_role("shop"),
        operator_roles.apps_page_role(),
    )
    return [rule for role in roles for rule in role["rules"]]


def test_no_rule_has_a_wildcard() -> None:
    assert [rule for rule in _all_rules() if "*" in str(rule)] == []


def test_secrets_are_read_one_by_one_and_made_and_never_listed_or_changed() -> None:
    verbs = {verb for rule in _all_rules() if "secrets" in rule["resources"] for verb in rule["verbs"]}
    assert verbs == {"get", "create"}


def test_every_right_says_what_it_is_for() -> None:
    assert [right for right in RIGHTS if len(right.purpose) < 10] == []
    assert {right.kind for right in RIGHTS} == set(KINDS)


def test_an_operator_of_one_namespace_asks_for_nothing_outside_of_it() -> None:
    resources = {one for rule in operator_roles.namespace_role("shop")["rules"] for one in rule["resources"]}
    assert NODE.plural not in resources
    assert "streamapps" in resources


def test_only_where_the_lease_is_leases_are_touched() -> None:
    assert [rule for rule in operator_roles.cluster_role()["rules"] if "leases" in rule["resources"]] == []
    assert [rule["resources"] for rule in operator_roles.leader_election_role("shop")["rules"]] == [
        ["leases"]
    ]


def test_only_the_page_of_all_apps_has_reviews_of_others() -> None:
    reviews = {"tokenreviews", "subjectaccessreviews"}
    pages = {one for rule in operator_roles.apps_page_role()["rules"] for one in rule["resources"]}
    assert pages == reviews
    for role in (operator_roles.cluster_role(), operator_roles.namespace_role("shop")):
        assert not reviews & {one for rule in role["rules"] for one in rule["resources"]}
