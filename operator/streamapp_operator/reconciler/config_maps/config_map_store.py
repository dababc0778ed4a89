"""Metadata in a ConfigMap: the whole map as one value, so that several entries change at once."""

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
        """The ConfigMap, None where it is not there."""
        ...

    def replace(self, before: Manifest | None, data: dict[str, str]) -> bool:
        """Put this in as its `binaryData`; False where it is not any more as it was read."""
        ...


class ConfigMapStore(WholeMapStore):
    """A `MetadataStore` in a ConfigMap. Writers that meet repeat their change on what the other wrote."""

    def __init__(self, carrier: ConfigMapAccess) -> None:
        self._carrier = carrier

    def all(self) -> Entries:
        """Everything as it was at one moment; a `StoreUnreadableError` where it is damaged."""
        return _entries(self._carrier.read())

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        while True:
            before = self._carrier.read()
            known = _entries(before)
            changed = change(known)
            if changed == known or self._carrier.replace(before, binary_data(changed)):
                return


def binary_data(entries: Mapping[bytes, bytes]) -> dict[str, str]:
    """The entries as `binaryData`."""
    return {METADATA_KEY: b64encode(pack_entries(entries)).decode()}


def _entries(manifest: Manifest | None) -> Entries:
    text = ((manifest or {}).get("binaryData") or {}).get(METADATA_KEY)
    return unpack_entries(b64decode(text)) if text else {}
