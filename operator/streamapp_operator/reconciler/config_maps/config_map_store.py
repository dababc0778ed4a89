"""A metadata store in a ConfigMap: the whole map is one value, so that several entries change atomically."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Protocol

from streamapp.metadata.entries_codec import pack_entries, unpack_entries
from streamapp.metadata.whole_map_store import Entries, WholeMapStore
from streamapp_operator.controller.client.manifest import Manifest

METADATA_KEY = "metadata"


class ConfigMapAccess(Protocol):
    """Reads and replaces one ConfigMap."""

    def read(self) -> Manifest | None:
        """The ConfigMap; None where it does not exist."""
        ...

    def replace(self, before: Manifest | None, data: dict[str, str]) -> bool:
        """Replace its `binaryData`; False where the ConfigMap has changed since it was read."""
        ...


class ConfigMapStore(WholeMapStore):
    """A `MetadataStore` in a ConfigMap. After a conflict the change is repeated on the newer content."""

    def __init__(self, carrier: ConfigMapAccess) -> None:
        self._carrier = carrier

    def all(self) -> Entries:
        """A consistent copy of all entries; a `StoreUnreadableError` where the data are damaged."""
        return _entries(self._carrier.read())

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        while True:
            manifest = self._carrier.read()
            entries = _entries(manifest)
            changed = change(entries)
            if changed == entries or self._carrier.replace(manifest, binary_data(changed)):
                return


def binary_data(entries: Mapping[bytes, bytes]) -> dict[str, str]:
    """The entries as `binaryData`."""
    return {METADATA_KEY: b64encode(pack_entries(entries)).decode()}


def _entries(manifest: Manifest | None) -> Entries:
    text = ((manifest or {}).get("binaryData") or {}).get(METADATA_KEY)
    return unpack_entries(b64decode(text)) if text else {}
