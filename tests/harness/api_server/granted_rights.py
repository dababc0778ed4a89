"""Rights of users other than the administrator."""

from typing import Literal

from tests.harness.api_server.api_server import RBAC, ApiServer
from tests.harness.api_server.memory_api import MemoryApi

Verb = Literal["get", "list"]
RBAC_GROUP = "rbac.authorization.k8s.io"


def user(name: str) -> dict[str, str]:
    """A user, as a binding names it."""
    return {"kind": "User", "name": name, "apiGroup": RBAC_GROUP}


def grant_apps(server: ApiServer | MemoryApi, namespace: str, subject: dict[str, str], verb: Verb) -> None:
    """Give somebody one right of the StreamApps of a namespace, and no other."""
    role = {"metadata": {"name": f"{verb}-apps"}}
    rules = [{"apiGroups": ["streamapp.dev"], "resources": ["streamapps"], "verbs": [verb]}]
    path = f"{RBAC}/namespaces/{namespace}"
    server.ask("POST", f"{path}/roles", {**role, "rules": rules})
    reference = {"apiGroup": RBAC_GROUP, "kind": "Role", "name": f"{verb}-apps"}
    server.ask("POST", f"{path}/rolebindings", {**role, "roleRef": reference, "subjects": [subject]})


def withdraw_apps(server: ApiServer, namespace: str, verb: Verb) -> None:
    """Take that right away again from all who have it by `grant_apps`."""
    server.ask("DELETE", f"{RBAC}/namespaces/{namespace}/rolebindings/{verb}-apps")
