"""The objects of an app's ConfigMaps."""

from collections.abc import Mapping
from typing import Any

from streamapp.protocol import message_names
from streamapp.protocol.message_names import INCARNATION
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import (
    GENERATION_LABEL,
    ObjectRole,
    metadata_for,
)


def accepted_config_map(
    app: Manifest, generation: int, files: Mapping[str, str], annotations: Mapping[str, str]
) -> Manifest:
    """The immutable ConfigMap of one accepted generation."""
    name = object_names.accepted(app["metadata"]["name"], generation)
    metadata = metadata_for(
        app,
        name,
        ObjectRole.ACCEPTED,
        more_labels={GENERATION_LABEL: str(generation)},
        annotations=annotations,
    )
    return {**_config_map(metadata), "immutable": True, "data": dict(files)}


RESET_NONCE = "streamapp.dev/reset-nonce"
"""Annotation: the app's reset nonce when the model was published; a higher one resets the run."""
WAS_RESET = "streamapp.dev/was-reset"
"""Annotation: an earlier run of this resource was reset, so that its layouts do not count."""


def job_model_config_map(
    app: Manifest, wanted: str, reset_nonce: int, incarnation: int, *, was_reset: bool
) -> Manifest:
    """The job model's ConfigMap. The incarnation is a copy of the status, which a user may clear."""
    annotations = {RESET_NONCE: str(reset_nonce), INCARNATION: str(incarnation)}
    if was_reset:
        annotations[WAS_RESET] = "true"
    metadata = metadata_for(
        app, object_names.job_model(app["metadata"]["name"]), ObjectRole.JOB_MODEL, annotations=annotations
    )
    return {**_config_map(metadata), "data": {message_names.WANTED: wanted}}


def report_config_map(app: Manifest) -> Manifest:
    """The report's ConfigMap: created by the operator, since the driver may only patch it."""
    return _config_map(metadata_for(app, object_names.report(app["metadata"]["name"]), ObjectRole.REPORT))


def _config_map(metadata: dict[str, Any]) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
