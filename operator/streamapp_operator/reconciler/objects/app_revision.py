"""The ControllerRevision with a spec that an app ran with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from streamapp.protocol.accepted_app import AcceptedApp, spec_hash
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.spec_revision import changed_fields, revised_app, revision_data
from streamapp_operator.controller.client.labels import ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONTROLLER_REVISION
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import (
    GENERATION_LABEL,
    ObjectRole,
    is_owned,
    metadata_for,
)

SPEC_HASH: Final = "streamapp.dev/spec-hash"
"""Annotation: the hash of the spec in the revision. Of equal specs the newest revision alone is kept."""
CHANGED_FIELDS: Final = "streamapp.dev/changed-fields"
"""Annotation: what differs from the revision before, as paths within the spec."""
MOST_NAMED_FIELDS: Final = 50


@dataclass(frozen=True, slots=True)
class AppRevision:
    """A ControllerRevision of an app, without its spec."""

    number: int
    name: str
    uid: str
    spec_hash: str
    leaving: bool  # it is being deleted


def revision_hash(app: StreamApp) -> str:
    """The hash of what a revision of the app would hold."""
    return spec_hash(revised_app(app))


def app_revision(app: Manifest, number: int, accepted: AcceptedApp, previous: StreamApp | None) -> Manifest:
    """The revision of an accepted app; `previous` is the app of the revision before, where that is known."""
    annotations = {SPEC_HASH: revision_hash(accepted.app)}
    if previous is not None:
        annotations[CHANGED_FIELDS] = _named(changed_fields(previous, accepted.app))
    return {
        "apiVersion": CONTROLLER_REVISION.api_version,
        "kind": CONTROLLER_REVISION.name,
        "metadata": metadata_for(
            app,
            object_names.revision(app["metadata"]["name"], number),
            ObjectRole.REVISION,
            more_labels={GENERATION_LABEL: str(accepted.generation)},
            annotations=annotations,
        ),
        "revision": number,
        "data": revision_data(accepted.app),
    }


def _named(fields: Sequence[str]) -> str:
    """The fields as one text. An edit may rename hundreds of operators."""
    more = len(fields) - MOST_NAMED_FIELDS
    return ", ".join([*fields[:MOST_NAMED_FIELDS], *([f"and {more} more"] if more > 0 else [])])


def read_revision(manifest: Manifest, app: Manifest) -> AppRevision | None:
    """The revision in an object; None for an object that is no revision of this app.

    The number is that of the name, which nobody can change.
    """
    metadata = manifest["metadata"]
    number = object_names.revision_number(metadata["name"])
    is_revision = (metadata.get("labels") or {}).get(ROLE_LABEL) == ObjectRole.REVISION
    if not is_revision or metadata["name"] != object_names.revision(app["metadata"]["name"], number):
        return None
    if not is_owned(manifest, app):
        return None
    return AppRevision(
        number,
        metadata["name"],
        metadata["uid"],
        (metadata.get("annotations") or {}).get(SPEC_HASH, ""),
        bool(metadata.get("deletionTimestamp")),
    )


def app_of_revision(manifest: Manifest, app: Manifest) -> StreamApp | None:
    """The app as the revision has it; None where its data are no spec, or of a later version."""
    data = manifest.get("data")
    if not isinstance(data, dict):
        return None
    metadata = {"name": app["metadata"]["name"], "namespace": app["metadata"]["namespace"]}
    parsed = parse_data({**data, "metadata": metadata})
    return revised_app(parsed.apps[0]) if parsed.apps else None
