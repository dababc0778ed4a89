"""What every object of an app has in common: whose it is, and the labels by which it is found."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from streamapp.spec.resource.app import API_VERSION, KIND
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest


class ObjectRole(StrEnum):
    """What an object is to its app."""

    ACCEPTED = "accepted"
    JOB_MODEL = "job-model"
    REPORT = "report"
    LOCALITY = "locality"
    DRIVER = "driver"
    EXECUTOR = "executor"


INCARNATION_LABEL = "streamapp.dev/incarnation"
GENERATION_LABEL = "streamapp.dev/generation"


def object_labels(app: str, role: ObjectRole, **more: str) -> dict[str, str]:
    """The labels of one object of an app."""
    return {
        APP_LABEL: app,
        ROLE_LABEL: role.value,
        "app.kubernetes.io/name": "streamapp",
        "app.kubernetes.io/instance": app,
        "app.kubernetes.io/managed-by": "streamapp-operator",
        **more,
    }


def role_selector(app: str, role: ObjectRole) -> dict[str, str]:
    """The labels that tell the objects of one role from all others."""
    return {APP_LABEL: app, ROLE_LABEL: role.value}


def owner_reference(app: Manifest) -> dict[str, Any]:
    """The reference that makes an object go with its app.

    `controller` lets a drain see that somebody will make the pod anew.
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
    """Whether an object is this app's, and not that of another one that had its name."""
    references = manifest["metadata"].get("ownerReferences") or ()
    return any(reference.get("uid") == app["metadata"]["uid"] for reference in references)


def metadata_for(
    app: Manifest,
    name: str,
    role: ObjectRole,
    *,
    more_labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The metadata of one object of an app."""
    found: dict[str, Any] = {
        "name": name,
        "namespace": app["metadata"]["namespace"],
        "labels": object_labels(app["metadata"]["name"], role, **(more_labels or {})),
        "ownerReferences": [owner_reference(app)],
    }
    if annotations:
        found["annotations"] = dict(annotations)
    return found
