"""An accepted generation as it is kept: the app, the shape of its pods, and what its drivers said of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol import message_names
from streamapp.protocol.accepted_app import AcceptedApp, decode_accepted, encode_accepted
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.config_maps.config_map_objects import accepted_config_map
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import GENERATION_LABEL
from streamapp_operator.reconciler.pods.pod_shape import PodShape, read_pod_shape

REFUSED_ANNOTATION = "streamapp.dev/refused"
"""Annotation: why a driver said that this generation cannot run."""
RAN_ANNOTATION = "streamapp.dev/ran"
"""Annotation: this generation has been ready, so that no earlier one is needed any more."""


@dataclass(frozen=True, slots=True)
class DriverRefusal:
    """What a driver said when it ended because of the app."""

    reason: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class AcceptedGeneration:
    """One accepted generation."""

    accepted: AcceptedApp
    shape: PodShape
    refused: DriverRefusal | None = None
    ran: bool = False

    @property
    def generation(self) -> int:
        """Which one it is."""
        return self.accepted.generation


def generation_size(snapshot: AcceptedGeneration) -> int:
    """How many bytes it takes."""
    return sum(len(text.encode()) for text in _files(snapshot).values())


def _files(snapshot: AcceptedGeneration) -> dict[str, str]:
    return {message_names.ACCEPTED: encode_accepted(snapshot.accepted), **snapshot.shape.files()}


def generation_config_map(app: Manifest, snapshot: AcceptedGeneration) -> Manifest:
    """The ConfigMap that keeps it."""
    files = _files(snapshot)
    return accepted_config_map(
        app, snapshot.generation, files, {RAN_ANNOTATION: "true"} if snapshot.ran else {}
    )


def read_generation(manifest: Manifest) -> AcceptedGeneration | None:
    """The snapshot of a ConfigMap; None where it cannot be read, which is then as good as not there."""
    data: Mapping[str, str] = manifest.get("data") or {}
    annotations: Mapping[str, str] = manifest["metadata"].get("annotations") or {}
    try:
        accepted = decode_accepted(data[message_names.ACCEPTED])
        shape = read_pod_shape(data)
    except (UnreadableError, ValueError, KeyError):
        return None
    if str(accepted.generation) != (manifest["metadata"].get("labels") or {}).get(GENERATION_LABEL):
        return None
    return AcceptedGeneration(
        accepted, shape, _refused(annotations.get(REFUSED_ANNOTATION)), RAN_ANNOTATION in annotations
    )


def annotate_generation(app: Manifest, generation: int, **annotations: str) -> Manifest:
    """What is applied to a snapshot to mark it; its content stays as it is."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": object_names.accepted(app["metadata"]["name"], generation),
            "namespace": app["metadata"]["namespace"],
            "annotations": annotations,
        },
    }


def refusal_text(refused: DriverRefusal) -> str:
    """A refusal as an annotation."""
    return json.dumps({"reason": refused.reason, "path": refused.path, "message": refused.message})


def _refused(text: str | None) -> DriverRefusal | None:
    if text is None:
        return None
    try:
        told: dict[str, Any] = json.loads(text)
        return DriverRefusal(str(told["reason"]), str(told["path"]), str(told["message"]))
    except (ValueError, KeyError, TypeError):
        return DriverRefusal("", "", text)
