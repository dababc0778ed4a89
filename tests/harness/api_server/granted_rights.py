"""Rights of users other than the administrator."""

from tests.harness.api_server.api_server import RBAC, ApiServer
from tests.harness.api_server.memory_api import MemoryApi


def let_read_apps(server: ApiServer | MemoryApi, namespace: str, user: str) -> None:
    """Give a user the right to read single StreamApps of a namespace, and no other."""
    rules = [{"apiGroups": ["streamapp.dev"], "resources": ["streamapps"], "verbs": ["get"]}]
    path = f"{RBAC}/namespaces/{namespace}"
    server.ask("POST", f"{path}/roles", {"metadata": {"name": "reader"}, "rules": rules})
    binding = {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
    }
    server.ask("POST", f"{path}/rolebindings", binding)
