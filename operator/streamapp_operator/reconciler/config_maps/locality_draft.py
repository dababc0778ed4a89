"""A draft of the locality ConfigMap: collects a reconcile's changes, to be written at once."""

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, metadata_for


class LocalityDraft:
    """A `ConfigMapAccess` without a cluster."""

    def __init__(self, observed: Manifest | None) -> None:
        self._data: dict[str, str] | None = (observed or {}).get("binaryData")
        self.changed = False

    def read(self) -> Manifest | None:
        """The observed ConfigMap with the changes."""
        return None if self._data is None else {"binaryData": self._data}

    def replace(self, before: Manifest | None, data: dict[str, str]) -> bool:
        """Record the change."""
        self._data, self.changed = data, True
        return True

    def manifest(self, app: Manifest) -> Manifest:
        """The ConfigMap to apply."""
        metadata = metadata_for(app, object_names.locality(app["metadata"]["name"]), ObjectRole.LOCALITY)
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "binaryData": self._data or {}}
