"""The service accounts of an app: the driver's has a role, the executors' has none."""

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, metadata_for


def driver_service_account(app: Manifest) -> Manifest:
    """The account of the driver pod."""
    return _account(app, object_names.driver_account(app["metadata"]["name"]), ObjectRole.DRIVER)


def executor_service_account(app: Manifest) -> Manifest:
    """An account without rights, and without a token."""
    return _account(app, object_names.executor_account(app["metadata"]["name"]), ObjectRole.EXECUTOR)


def _account(app: Manifest, name: str, role: ObjectRole) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata_for(app, name, role),
        "automountServiceAccountToken": False,  # the driver pod enables it; no other pod gets it by accident
    }
