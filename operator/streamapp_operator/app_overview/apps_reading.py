"""The rows that the page of all apps shows, and their source."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from streamapp_operator.app_overview.app_row import Document
from streamapp_operator.controller.client.manifest import Manifest


@dataclass(frozen=True, slots=True)
class AppsReading:
    """The rows of one moment."""

    rows: tuple[Document, ...]
    notices: tuple[str, ...] = ()  # what could not be read, and why


class AppsSource(Protocol):
    """The source of all apps. What cannot be read at all is a ClusterError."""

    async def read(self) -> AppsReading:
        """All apps, at most some seconds old."""

    async def app(self, namespace: str, name: str) -> Manifest | None:
        """The resource of one app."""


@dataclass(slots=True)
class SharedReading:
    """A reading that counts for all who look within some seconds; while it is made, they wait for it."""

    fresh_seconds: float
    clock: Callable[[], float]
    _made: tuple[float, AppsReading] | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def get(self, make: Callable[[], Awaitable[AppsReading]]) -> AppsReading:
        """The last reading, or another one where it is too old."""
        async with self._turn:
            if self._made is None or self.clock() - self._made[0] >= self.fresh_seconds:
                self._made = self.clock(), await make()
            return self._made[1]
