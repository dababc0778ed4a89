"""kopf at the edge: it watches and keeps watching; what it shows goes into the cache and the queue."""

from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, repeat
from typing import Any, cast

import kopf

from streamapp.spec.app import GROUP
from streamapp_operator.cluster.api import CHUNK
from streamapp_operator.cluster.cache import WATCHED
from streamapp_operator.cluster.kinds import Kind
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.watch.comparison import selector
from streamapp_operator.watch.patience import Patience

Seen = Callable[[Kind, str | None, Manifest], None]
"""What is called with a kind, the type of an event (none: from a list), and the object."""


class _Endless:
    """Waits between tries, without end: an operator that cannot reach its server waits for it."""

    def __iter__(self) -> Iterator[float]:
        return chain((1.0, 2.0, 3.0, 5.0), repeat(8.0))


class _NoBooks(kopf.DiffBaseStorage):
    """kopf's record of what an object was like, which costs a copy of each object at each event."""

    def build(self, *, body: kopf.Body, extra_fields: object = None) -> kopf.BodyEssence:
        """Nothing of it."""
        return cast("kopf.BodyEssence", {})

    def fetch(self, *, body: kopf.Body) -> kopf.BodyEssence | None:
        """Nothing of it."""
        return None

    def store(self, *, body: kopf.Body, patch: kopf.Patch, essence: kopf.BodyEssence) -> None:
        """Nowhere."""


def registry(seen: Seen, login: Callable[[], Awaitable[kopf.ConnectionInfo]]) -> kopf.OperatorRegistry:
    """What kopf calls: once for each event of what is watched, and to log in."""
    handlers = kopf.OperatorRegistry()

    async def logged_in(**_: Any) -> kopf.ConnectionInfo:
        return await login()

    kopf.on.login(registry=handlers)(logged_in)
    for kind in WATCHED:
        _watch(handlers, kind, seen)
    return handlers


def _watch(handlers: kopf.OperatorRegistry, kind: Kind, seen: Seen) -> None:
    async def handler(event: Any, **_: Any) -> None:
        seen(kind, event["type"], event["object"])

    kopf.on.event(kind.group, kind.version, kind.plural, registry=handlers, id=f"see-{kind.plural}")(handler)


def settings(patience: Patience) -> kopf.OperatorSettings:
    """Kopf without all that writes, and with watches that cannot stay silent."""
    chosen = kopf.OperatorSettings()
    chosen.posting.enabled = False
    chosen.peering.standalone = True
    chosen.scanning.disabled = True
    chosen.persistence.diffbase_storage = _NoBooks()
    chosen.persistence.finalizer = f"{GROUP}/not-in-use"  # kopf takes its own away, which may be another's
    chosen.process.ultimate_exiting_timeout = None
    chosen.networking.request_timeout = 30.0
    chosen.networking.connect_timeout = 5.0
    chosen.networking.error_backoffs = _Endless()
    chosen.watching.server_timeout = 600
    chosen.watching.chunk_size = CHUNK
    chosen.watching.inactivity_timeout = patience.watch
    chosen.watching.reconnect_backoff = 0.5
    chosen.queueing.idle_timeout = 1.0
    for kind in WATCHED:
        wanted = selector(kind)
        if wanted:
            chosen.watching.label_selectors[kind.group, kind.version, kind.plural] = wanted
    return chosen
