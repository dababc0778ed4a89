"""An accepted generation in its ConfigMap: the app, its pod shape, and its drivers' results."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol import message_names
from streamapp.protocol.accepted_app import AcceptedApp, decode_accepted, encode_accepted
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.config_maps.config_map_objects import accepted_config_map
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.configuration_versions import named_versions
from streamapp_operator.reconciler.objects.object_metadata import GENERATION_LABEL
from streamapp_operator.reconciler.pods.pod_shape import PodShape, read_pod_shape

REFUSED_ANNOTATION = "streamapp.dev/refused"
"""Annotation: a driver's reason why this generation cannot run."""
ADOPTED_ANNOTATION = "streamapp.dev/adopted-generations"
"""Annotation: the last generation of the deleted app that was adopted; those of the app count on from it."""
RAN_ANNOTATION = "streamapp.dev/ran"
"""Annotation: this generation was ready once, so that no earlier one is needed."""

_COUNT = re.compile(r"[0-9]{1,15}", re.ASCII)


@dataclass(frozen=True, slots=True)
class DriverRefusal:
    """Why an accepted generation does not run: its driver says so, or cannot start."""

    reason: str
    path: str
    message: str
    configuration: Mapping[str, str] | None = None
    """The versions of what the app named at that time: with others it may run. None where any refuse it."""


@dataclass(frozen=True, slots=True)
class AcceptedGeneration:
    """One accepted generation."""

    accepted: AcceptedApp
    shape: PodShape
    driver_refusal: DriverRefusal | None = None
    ran: bool = False
    adopted: int = 0  # the last generation of the deleted app that was adopted, if one was

    @property
    def generation(self) -> int:
        """The number of the generation."""
        return self.accepted.generation


def generation_in_force(generations: Sequence[AcceptedGeneration]) -> AcceptedGeneration | None:
    """The newest of these generations, in ascending order, that no driver has refused."""
    return next((accepted for accepted in reversed(generations) if accepted.driver_refusal is None), None)


def adopted_generations(generations: Iterable[AcceptedGeneration]) -> int:
    """The last generation of the deleted app that was adopted; 0 where none was."""
    return max((generation.adopted for generation in generations), default=0)


def without_outdated_refusal(
    generation: AcceptedGeneration, versions: Mapping[str, str]
) -> AcceptedGeneration:
    """The generation, without a refusal that was about other Secrets and ConfigMaps than there are now."""
    refusal = generation.driver_refusal
    if refusal is None or refusal.configuration is None:
        return generation
    now = named_versions(generation.accepted.app, versions)
    return generation if refusal.configuration == now else replace(generation, driver_refusal=None)


def generation_size(generation: AcceptedGeneration) -> int:
    """The size of its ConfigMap's data, in bytes."""
    return sum(len(text.encode()) for text in _files(generation).values())


def _files(generation: AcceptedGeneration) -> dict[str, str]:
    return {message_names.ACCEPTED: encode_accepted(generation.accepted), **generation.shape.files()}


def generation_config_map(app: Manifest, generation: AcceptedGeneration) -> Manifest:
    """The ConfigMap of an accepted generation."""
    annotations = {RAN_ANNOTATION: "true"} if generation.ran else {}
    if generation.driver_refusal is not None:
        annotations[REFUSED_ANNOTATION] = refusal_text(generation.driver_refusal)
    if generation.adopted:
        annotations[ADOPTED_ANNOTATION] = str(generation.adopted)
    return accepted_config_map(app, generation.generation, _files(generation), annotations)


def read_generation(manifest: Manifest) -> AcceptedGeneration | None:
    """The generation in a ConfigMap; None where it cannot be decoded, which counts as absent."""
    data: Mapping[str, str] = manifest.get("data") or {}
    annotations: Mapping[str, str] = manifest["metadata"].get("annotations") or {}
    try:
        accepted = decode_accepted(data[message_names.ACCEPTED])
        shape = read_pod_shape(data)
    except (UnreadableError, ValueError, KeyError):
        return None
    if str(accepted.generation) != (manifest["metadata"].get("labels") or {}).get(GENERATION_LABEL):
        return None
    ran = RAN_ANNOTATION in annotations
    refusal = None if ran else read_refusal(annotations.get(REFUSED_ANNOTATION))
    adopted = annotations.get(ADOPTED_ANNOTATION, "")
    return AcceptedGeneration(accepted, shape, refusal, ran, int(adopted) if _COUNT.fullmatch(adopted) else 0)


def annotate_generation(app: Manifest, generation: int, **annotations: str) -> Manifest:
    """The apply that annotates a generation's ConfigMap and leaves its data alone."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": object_names.accepted(app["metadata"]["name"], generation),
            "namespace": app["metadata"]["namespace"],
            "annotations": annotations,
        },
    }


def refusal_text(refusal: DriverRefusal) -> str:
    """A refusal as an annotation, with the versions only where it has some."""
    document: dict[str, object] = {
        "reason": refusal.reason,
        "path": refusal.path,
        "message": refusal.message,
    }
    if refusal.configuration is not None:
        document["configuration"] = dict(refusal.configuration)
    return json.dumps(document)


def read_refusal(text: str | None) -> DriverRefusal | None:
    """The refusal in an annotation; a text that is no document is the message."""
    if text is None:
        return None
    try:
        refusal: dict[str, Any] = json.loads(text)
        configuration = refusal.get("configuration")
        return DriverRefusal(
            str(refusal["reason"]),
            str(refusal["path"]),
            str(refusal["message"]),
            {str(name): str(version) for name, version in configuration.items()}
            if configuration is not None
            else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return DriverRefusal("", "", text)
