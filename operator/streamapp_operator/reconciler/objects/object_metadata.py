"""Metadata that every object of an app has: its owner and its labels."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from streamapp.spec.resource.app import API_VERSION, KIND
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import VOLUME_CLAIM


class ObjectRole(StrEnum):
    """The role of an object within its app."""

    ACCEPTED = "accepted"
    JOB_MODEL = "job-model"
    REPORT = "report"
    LOCALITY = "locality"
    DRIVER = "driver"
    EXECUTOR = "executor"
    NETWORK = "network"
    REVISION = "revision"


GENERATION_LABEL = "streamapp.dev/generation"


def object_labels(app: str, role: ObjectRole, **more_labels: str) -> dict[str, str]:
    """The labels of one object of an app."""
    return {
        APP_LABEL: app,
        ROLE_LABEL: role.value,
        "app.kubernetes.io/name": "streamapp",
        "app.kubernetes.io/instance": app,
        "app.kubernetes.io/managed-by": "streamapp-operator",
        **more_labels,
    }


def role_selector(app: str, role: ObjectRole) -> dict[str, str]:
    """The labels that select the objects of one role."""
    return {APP_LABEL: app, ROLE_LABEL: role.value}


def owner_reference(app: Manifest) -> dict[str, Any]:
    """The owner reference by which an object is deleted with its app.

    `controller` lets a drain see that the pod will be replaced.
    """
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": app["metadata"]["name"],
        "uid": app["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_owned(manifest: Manifest, app: Manifest) -> bool:
    """True if this app owns an object, by uid: a deleted app may have had the same name."""
    references = manifest["metadata"].get("ownerReferences") or ()
    return any(reference.get("uid") == app["metadata"]["uid"] for reference in references)


def is_left_behind(manifest: Manifest, app: Manifest) -> bool:
    """True if an object is left of a deleted app of this name: it has that app's label and no other owner.

    Owners of the app's kind and name are deleted apps: of one name there is never a second that lives.
    """
    metadata = manifest["metadata"]
    has_label = (metadata.get("labels") or {}).get(APP_LABEL) == app["metadata"]["name"]
    references = metadata.get("ownerReferences") or ()
    owners = {(owner["apiVersion"], owner["kind"], owner["name"]) for owner in references}
    is_leaving = bool(metadata.get("deletionTimestamp"))
    return has_label and not is_leaving and owners <= {(API_VERSION, KIND, app["metadata"]["name"])}


def may_change(manifest: Manifest, app: Manifest) -> bool:
    """True if this app may change an object that is there already: it owns the object.

    A claim may outlive its app, and has no owner then. It is taken up by its label, unless another owner
    controls the claim.
    """
    if is_owned(manifest, app):
        return True
    metadata = manifest["metadata"]
    is_controlled = any(reference.get("controller") for reference in metadata.get("ownerReferences") or ())
    has_label = (metadata.get("labels") or {}).get(APP_LABEL) == app["metadata"]["name"]
    return manifest["kind"] == VOLUME_CLAIM.name and has_label and not is_controlled


def metadata_for(
    app: Manifest,
    name: str,
    role: ObjectRole,
    *,
    more_labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The metadata of one object of an app."""
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": app["metadata"]["namespace"],
        "labels": object_labels(app["metadata"]["name"], role, **(more_labels or {})),
        "ownerReferences": [owner_reference(app)],
    }
    if annotations:
        metadata["annotations"] = dict(annotations)
    return metadata
