"""The history of an app on a cluster, as the commands read it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

import click

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import spec_as_yaml
from streamapp.spec.spec_revision import revised_app
from streamapp_operator.cli.cluster_access.app_lookup import read_app
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONTROLLER_REVISION
from streamapp_operator.reconciler.objects.app_revision import (
    CHANGED_FIELDS,
    app_of_revision,
    read_revision,
)
from streamapp_operator.reconciler.objects.object_metadata import GENERATION_LABEL, ObjectRole


@dataclass(frozen=True, slots=True)
class RevisionEntry:
    """One revision of an app."""

    number: int
    generation: str  # of the resource, when a driver first ran the spec
    recorded_at: str
    changed: str  # since the revision before; empty where that is not known
    app: StreamApp | None  # None where this version of streamapp cannot read the spec


@dataclass(frozen=True, slots=True)
class AppHistory:
    """An app and its revisions, the oldest first."""

    manifest: Manifest
    revisions: tuple[RevisionEntry, ...]

    @property
    def present_app(self) -> StreamApp | None:
        """The present app of the resource, reduced to what a revision holds; None where it cannot be read."""
        parsed = parse_data(self.manifest)
        return revised_app(parsed.apps[0]) if parsed.apps else None

    @property
    def present_number(self) -> int | None:
        """The revision that the resource says now; None where no driver has run that."""
        present_app = self.present_app
        numbers = [
            entry.number for entry in self.revisions if entry.app is not None and entry.app == present_app
        ]
        return numbers[-1] if numbers else None

    def entry(self, number: int) -> RevisionEntry:
        """The revision of that number; a ClickException names those that there are."""
        entries = {entry.number: entry for entry in self.revisions}
        if number not in entries:
            name = self.manifest["metadata"]["name"]
            raise click.ClickException(f'app "{name}" has no revision {number}; {_listed(entries)}')
        return entries[number]


def _listed(numbers: Iterable[int]) -> str:
    texts = [str(number) for number in numbers]
    return f"it has {', '.join(texts)}" if texts else "no driver of it has run yet"


async def read_history(cluster: ApiClusterClient, namespace: str, name: str) -> AppHistory:
    """The app with its revisions; a ClickException where there is no such app."""
    manifest = await read_app(cluster, namespace, name)
    labels = {APP_LABEL: name, ROLE_LABEL: ObjectRole.REVISION}
    revisions = await cluster.select(CONTROLLER_REVISION, namespace, labels)
    entries = [_entry(revision, manifest) for revision in revisions if read_revision(revision, manifest)]
    return AppHistory(manifest, tuple(sorted(entries, key=lambda entry: entry.number)))


def _entry(revision: Manifest, app: Manifest) -> RevisionEntry:
    metadata = revision["metadata"]
    annotations: Mapping[str, Any] = metadata.get("annotations") or {}
    identity = read_revision(revision, app)
    return RevisionEntry(
        identity.number if identity is not None else 0,
        metadata["labels"].get(GENERATION_LABEL, ""),
        metadata["creationTimestamp"],
        annotations.get(CHANGED_FIELDS, ""),
        app_of_revision(revision, app),
    )


def readable_app(entry: RevisionEntry) -> StreamApp:
    """The app of a revision; a ClickException where it cannot be read."""
    if entry.app is None:
        raise click.ClickException(
            f"the spec of revision {entry.number} cannot be read; "
            "use the version of streamapp that wrote it, or a later one"
        )
    return entry.app


def spec_diff(before: StreamApp, after: StreamApp, names: tuple[str, str]) -> str:
    """The differences between two specs, as lines of YAML."""
    old, new = (spec_as_yaml(app).splitlines(keepends=True) for app in (before, after))
    return "".join(unified_diff(old, new, *names))
