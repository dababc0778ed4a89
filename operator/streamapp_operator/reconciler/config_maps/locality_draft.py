"""A ConfigMap as a reconcile has seen it, with the changes that it wants to make: written later, at once."""

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, metadata_for


class LocalityDraft:
    """A `Carrier` without a cluster."""

    def __init__(self, seen: Manifest | None) -> None:
        self._data: dict[str, str] | None = (seen or {}).get("binaryData")
        self.changed = False

    def read(self) -> Manifest | None:
        """As it was seen, with the changes."""
        return None if self._data is None else {"binaryData": self._data}

    def replace(self, before: Manifest | None, data: dict[str, str]) -> bool:
        """Note the change."""
        self._data, self.changed = data, True
        return True

    def manifest(self, app: Manifest) -> Manifest:
        """The ConfigMap as it is to be."""
        own = metadata_for(app, object_names.locality(app["metadata"]["name"]), ObjectRole.LOCALITY)
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": own, "binaryData": self._data or {}}
