"""An accepted generation as it is kept: the app, the shape of its pods, and what its drivers said of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamapp.jobmodel.unreadable import UnreadableError
from streamapp.protocol import places
from streamapp.protocol.accepted import Accepted, decode_accepted, encode_accepted
from streamapp_operator import naming
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.objects.maps import accepted_map
from streamapp_operator.objects.owned import GENERATION
from streamapp_operator.objects.shape import Shape, shape_in

REFUSED = "streamapp.dev/refused"
"""Annotation: why a driver said that this generation cannot run."""
RAN = "streamapp.dev/ran"
"""Annotation: this generation has been ready, so that no earlier one is needed any more."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What a driver said when it ended because of the app."""

    reason: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One accepted generation."""

    accepted: Accepted
    shape: Shape
    refused: Refused | None = None
    ran: bool = False

    @property
    def generation(self) -> int:
        """Which one it is."""
        return self.accepted.generation


def snapshot_size(snapshot: Snapshot) -> int:
    """How many bytes it takes."""
    return sum(len(text.encode()) for text in _files(snapshot).values())


def _files(snapshot: Snapshot) -> dict[str, str]:
    return {places.ACCEPTED: encode_accepted(snapshot.accepted), **snapshot.shape.files()}


def snapshot_map(app: Manifest, snapshot: Snapshot) -> Manifest:
    """The ConfigMap that keeps it."""
    files = _files(snapshot)
    return accepted_map(app, snapshot.generation, files, {RAN: "true"} if snapshot.ran else {})


def snapshot_in(manifest: Manifest) -> Snapshot | None:
    """The snapshot of a ConfigMap; None where it cannot be read, which is then as good as not there."""
    data: Mapping[str, str] = manifest.get("data") or {}
    annotations: Mapping[str, str] = manifest["metadata"].get("annotations") or {}
    try:
        accepted = decode_accepted(data[places.ACCEPTED])
        shape = shape_in(data)
    except (UnreadableError, ValueError, KeyError):
        return None
    if str(accepted.generation) != (manifest["metadata"].get("labels") or {}).get(GENERATION):
        return None
    return Snapshot(accepted, shape, _refused(annotations.get(REFUSED)), RAN in annotations)


def marked(app: Manifest, generation: int, **annotations: str) -> Manifest:
    """What is applied to a snapshot to mark it; its content stays as it is."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": naming.accepted(app["metadata"]["name"], generation),
            "namespace": app["metadata"]["namespace"],
            "annotations": annotations,
        },
    }


def refusal_text(refused: Refused) -> str:
    """A refusal as an annotation."""
    return json.dumps({"reason": refused.reason, "path": refused.path, "message": refused.message})


def _refused(text: str | None) -> Refused | None:
    if text is None:
        return None
    try:
        told: dict[str, Any] = json.loads(text)
        return Refused(str(told["reason"]), str(told["path"]), str(told["message"]))
    except (ValueError, KeyError, TypeError):
        return Refused("", "", text)
