"""The storage class of claims that name none: Spark makes claims only of a class that it is told by name."""

from streamapp.author.app_streams import is_embedded
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.api_errors import RejectedError
from streamapp_operator.controller.client.resource_kinds import STORAGE_CLASS
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext

DEFAULT_CLASS_ANNOTATION = "storageclass.kubernetes.io/is-default-class"
FORBIDDEN = 403


def needs_default_class(app: StreamApp) -> bool:
    """Whether an app leaves it open of which class the claims of its executors are."""
    claim = app.spec.state.persistent_volume_claim
    return claim is not None and claim.storage_class_name is None and not is_embedded(app)


async def default_storage_class(world: ReconcileContext, app: StreamApp | None) -> str:
    """The cluster's default, for an app that needs it; empty where none can be seen.

    Kubernetes lets a cluster have several, and takes the newest.
    """
    if app is None or not needs_default_class(app) or world.installation.storage_class:
        return ""
    try:
        classes = await world.cluster.select(STORAGE_CLASS, "", {})
    except RejectedError as error:
        if error.code != FORBIDDEN:
            raise
        return ""
    found = [
        (one["metadata"].get("creationTimestamp") or "", str(one["metadata"]["name"]))
        for one in classes
        if (one["metadata"].get("annotations") or {}).get(DEFAULT_CLASS_ANNOTATION) == "true"
    ]
    return max(found)[1] if found else ""
