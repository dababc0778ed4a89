"""The role of an app's driver at the API server, and its binding."""

from typing import Any

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.executor_limits import LIMITS_ANNOTATION
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, metadata_for

_GROUP = "rbac.authorization.k8s.io"


def driver_role(app: Manifest, *, claims: bool) -> Manifest:
    """The rights to read the job model, to write the report and to manage executors.

    Spark chooses the names of executors, so that the role cannot name pods. The limits that the binding
    carries say which pods they may be, where the chart's admission policies are.
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


def driver_role_binding(app: Manifest, account: str, limits: str) -> Manifest:
    """The binding of the role to the driver's account, with the limits of the executors that it makes."""
    name = object_names.driver_account(app["metadata"]["name"])
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": metadata_for(
            app,
            name,
            ObjectRole.DRIVER,
            annotations={LIMITS_ANNOTATION: limits},
        ),
        "roleRef": {"apiGroup": _GROUP, "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": app["metadata"]["namespace"]}],
    }
