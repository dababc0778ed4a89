"""The operator's roles as objects, generated from the table of rights."""

from collections.abc import Iterable, Iterator

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ROLE
from streamapp_operator.controller.rbac.operator_rights import RIGHTS, Right

ROLE_NAME = "streamapp-operator"


def policy_rules(rights: Iterable[Right]) -> list[Manifest]:
    """The rules of a role: one for each API group and set of verbs."""
    grouped: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for right in rights:
        verbs = tuple(str(verb) for verb in right.verbs)
        grouped.setdefault((right.kind.group, verbs), []).append(right.resource)
    return [
        {"apiGroups": [group], "resources": resources, "verbs": list(verbs)}
        for (group, verbs), resources in grouped.items()
    ]


def cluster_role(name: str = ROLE_NAME) -> Manifest:
    """The role for apps in every namespace."""
    return _role("ClusterRole", {"name": name}, list(_everywhere()))


def namespace_role(namespace: str, name: str = ROLE_NAME) -> Manifest:
    """The role for apps in one namespace; without nodes, which are cluster-scoped."""
    metadata = {"name": name, "namespace": namespace}
    return _role("Role", metadata, [right for right in _everywhere() if right.kind.namespaced])


def leader_election_role(namespace: str, name: str = f"{ROLE_NAME}-lead") -> Manifest:
    """The role for the leader election, in the namespace of its Lease."""
    metadata = {"name": name, "namespace": namespace}
    return _role("Role", metadata, [right for right in RIGHTS if right.lead_only])


def apps_page_role(name: str = f"{ROLE_NAME}-page") -> Manifest:
    """The role for the page of all apps, whose reviews are cluster-scoped."""
    return _role("ClusterRole", {"name": name}, [right for right in RIGHTS if right.page_only])


def _everywhere() -> Iterator[Right]:
    return (right for right in RIGHTS if not right.lead_only and not right.page_only)


def _role(kind: str, metadata: Manifest, rights: list[Right]) -> Manifest:
    return {"apiVersion": ROLE.api_version, "kind": kind, "metadata": metadata, "rules": policy_rules(rights)}
