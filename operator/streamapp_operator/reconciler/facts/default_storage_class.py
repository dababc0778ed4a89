"""The storage class of claims that name none: Spark creates claims only of a named class."""

from streamapp.author.app_streams import is_embedded
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.api_errors import FORBIDDEN, RejectedError
from streamapp_operator.controller.client.resource_kinds import STORAGE_CLASS
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext

DEFAULT_CLASS_ANNOTATION = "storageclass.kubernetes.io/is-default-class"


def needs_default_class(app: StreamApp) -> bool:
    """True if the claims of an app's executors name no storage class."""
    claim = app.spec.state.persistent_volume_claim
    return claim is not None and claim.storage_class_name is None and not is_embedded(app)


async def default_storage_class(context: ReconcileContext, app: StreamApp | None) -> str:
    """The cluster's default, for an app that needs it; empty where none is visible.

    Kubernetes lets a cluster have several, and takes the newest.
    """
    if app is None or not needs_default_class(app) or context.installation.storage_class:
        return ""
    try:
        classes = await context.cluster.select(STORAGE_CLASS, "", {})
    except RejectedError as error:
        if error.code != FORBIDDEN:
            raise
        return ""
    defaults = [
        (storage_class["metadata"].get("creationTimestamp") or "", str(storage_class["metadata"]["name"]))
        for storage_class in classes
        if (storage_class["metadata"].get("annotations") or {}).get(DEFAULT_CLASS_ANNOTATION) == "true"
    ]
    return max(defaults)[1] if defaults else ""
