"""What the driver of an app may do at the API server: a role of its own, and its binding."""

from typing import Any

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, metadata_for

_GROUP = "rbac.authorization.k8s.io"


def driver_role(app: Manifest, *, claims: bool) -> Manifest:
    """Read its job model, write its report, and look after executors.

    Executors' names are Spark's choice, so that pods cannot be named here; the namespace bounds them.
    """
    name = app["metadata"]["name"]
    rules: list[dict[str, Any]] = [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": [object_names.job_model(name)],
            "verbs": ["get", "watch"],
        },
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": [object_names.report(name)],
            "verbs": ["get", "patch"],
        },
        {
            "apiGroups": [""],
            "resources": ["pods"],
            "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "watch"],
        },
    ]
    if claims:
        rules += [
            {
                "apiGroups": ["apps"],
                "resources": ["statefulsets"],
                "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
            },
            {
                "apiGroups": ["apps"],
                "resources": ["statefulsets/scale"],
                "verbs": ["get", "update"],
            },
            {
                "apiGroups": [""],
                "resources": ["persistentvolumeclaims"],
                "verbs": ["get", "list"],
            },
        ]
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "Role",
        "metadata": metadata_for(app, object_names.driver_account(name), ObjectRole.DRIVER),
        "rules": rules,
    }


def driver_role_binding(app: Manifest, account: str) -> Manifest:
    """The role given to the driver's account."""
    name = object_names.driver_account(app["metadata"]["name"])
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": metadata_for(app, name, ObjectRole.DRIVER),
        "roleRef": {"apiGroup": _GROUP, "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": app["metadata"]["namespace"]}],
    }
