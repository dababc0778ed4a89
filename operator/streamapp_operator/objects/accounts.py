"""The service accounts of an app: the driver may do a little, the executors may do nothing."""

from streamapp_operator import naming
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.objects.owned import Role, metadata


def driver_account(app: Manifest) -> Manifest:
    """The account whose token the driver pod has."""
    return _account(app, naming.driver_account(app["metadata"]["name"]), Role.DRIVER)


def executor_account(app: Manifest) -> Manifest:
    """An account without rights, and without a token."""
    return _account(app, naming.executor_account(app["metadata"]["name"]), Role.EXECUTOR)


def _account(app: Manifest, name: str, role: Role) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(app, name, role),
        "automountServiceAccountToken": False,  # the driver pod asks for it; nobody else gets it by accident
    }
