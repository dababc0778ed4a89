"""What the page of all apps shows, and where it comes from."""

from dataclasses import dataclass
from typing import Protocol

from streamapp_operator.app_overview.app_row import Document
from streamapp_operator.controller.client.manifest import Manifest


@dataclass(frozen=True, slots=True)
class AppsReading:
    """The rows of one moment."""

    rows: tuple[Document, ...]
    notices: tuple[str, ...] = ()  # what could not be read, and why


class AppsSource(Protocol):
    """Where apps are read. What cannot be read at all is a ClusterError."""

    async def read(self) -> AppsReading:
        """All apps, at most some seconds old."""

    async def app(self, namespace: str, name: str) -> Manifest | None:
        """The resource of one app."""
