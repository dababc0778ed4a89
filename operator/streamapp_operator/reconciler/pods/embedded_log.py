"""An app on an embedded log: one processor in the driver's own pod, log and stores on a volume."""

from typing import Any

from streamapp.author.app_streams import is_embedded
from streamapp.placement.locations.pod_facts import STATE_VOLUME as VOLUME
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, object_labels, owner_reference
from streamapp_operator.reconciler.pods.state_volume import STATE_MOUNT, StateVolume


def log_claim_name(app: str) -> str:
    """The name of the claim that holds log and stores."""
    return f"{app}-state"


def log_claim_volume(app: StreamApp) -> StateVolume:
    """The volume of the claim in the driver's pod."""
    volume = {"name": VOLUME, "persistentVolumeClaim": {"claimName": log_claim_name(app.metadata.name)}}
    return StateVolume((volume,), ({"name": VOLUME, "mountPath": STATE_MOUNT},))


def log_claim(manifest: Manifest, app: StreamApp) -> Manifest | None:
    """The claim, where the app asks for one; owned by the app only with the reclaim policy `Delete`."""
    claim = app.spec.state.persistent_volume_claim
    if claim is None or not is_embedded(app):
        return None
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": claim.size}},
    }
    if claim.storage_class_name:
        spec["storageClassName"] = claim.storage_class_name
    name = app.metadata.name
    metadata: dict[str, Any] = {
        "name": log_claim_name(name),
        "namespace": app.metadata.namespace,
        "labels": object_labels(name, ObjectRole.DRIVER),
    }
    if app.spec.state.reclaim_policy == "Delete":
        metadata["ownerReferences"] = [owner_reference(manifest)]
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
