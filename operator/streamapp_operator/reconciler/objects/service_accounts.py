"""The service accounts of an app: the driver's has a role, the executors' has none."""

from collections.abc import Mapping

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, metadata_for


def driver_service_account(app: Manifest, annotations: Mapping[str, str]) -> Manifest:
    """The account of the driver pod."""
    name = object_names.driver_account(app["metadata"]["name"])
    return _account(app, name, ObjectRole.DRIVER, annotations)


def executor_service_account(app: Manifest, annotations: Mapping[str, str]) -> Manifest:
    """An account without rights, and without a token."""
    name = object_names.executor_account(app["metadata"]["name"])
    return _account(app, name, ObjectRole.EXECUTOR, annotations)


def _account(app: Manifest, name: str, role: ObjectRole, annotations: Mapping[str, str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata_for(app, name, role, annotations=annotations),
        "automountServiceAccountToken": False,  # the driver pod enables it; no other pod gets it by accident
    }
