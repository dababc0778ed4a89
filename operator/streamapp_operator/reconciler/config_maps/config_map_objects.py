"""The ConfigMaps by which operator and driver speak, and in which the operator remembers."""

from collections.abc import Mapping
from typing import Any

from streamapp.protocol import message_names
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import (
    GENERATION_LABEL,
    INCARNATION_LABEL,
    ObjectRole,
    metadata_for,
)


def accepted_config_map(
    app: Manifest, generation: int, files: Mapping[str, str], annotations: Mapping[str, str]
) -> Manifest:
    """One accepted generation: nothing in it ever changes."""
    name = object_names.accepted(app["metadata"]["name"], generation)
    own = metadata_for(
        app,
        name,
        ObjectRole.ACCEPTED,
        more_labels={GENERATION_LABEL: str(generation)},
        annotations=annotations,
    )
    return {**_config_map(own), "immutable": True, "data": dict(files)}


RESET_NONCE = "streamapp.dev/reset-nonce"
"""Annotation: the app's reset nonce when the model was made; a higher one gives the run up."""
WAS_RESET = "streamapp.dev/was-reset"
"""Annotation: an earlier run of this very resource was given up, so that no layout of it counts."""


def job_model_config_map(
    app: Manifest, wanted: str, reset_nonce: int, incarnation: int, *, was_reset: bool
) -> Manifest:
    """What the driver is to run. The incarnation is a copy of the status, which somebody may clear."""
    told = {RESET_NONCE: str(reset_nonce), INCARNATION_LABEL: str(incarnation)}
    if was_reset:
        told[WAS_RESET] = "true"
    own = metadata_for(
        app, object_names.job_model(app["metadata"]["name"]), ObjectRole.JOB_MODEL, annotations=told
    )
    return {**_config_map(own), "data": {message_names.WANTED: wanted}}


def report_config_map(app: Manifest) -> Manifest:
    """Where the driver reports: made here, filled by the driver, who may make nothing itself."""
    return _config_map(metadata_for(app, object_names.report(app["metadata"]["name"]), ObjectRole.REPORT))


def _config_map(own: dict[str, Any]) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": own}
