"""kopf at the edge: it watches and keeps watching; what it shows goes into the cache and the queue."""

from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, repeat
from typing import Any, cast

import kopf
from kubernetes.aio.client.configuration import Configuration

from streamapp.spec.resource.app import GROUP
from streamapp_operator.controller.client.api_cluster_client import LIST_LIMIT
from streamapp_operator.controller.client.client_configuration import uses_proxy
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind
from streamapp_operator.controller.watch.cache_comparison import watch_selector
from streamapp_operator.controller.watch.object_cache import WATCHED_KINDS
from streamapp_operator.controller.watch.watch_timeouts import WatchTimeouts

EventHandler = Callable[[ResourceKind, str | None, Manifest], None]
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


def handler_registry(
    seen: EventHandler, login: Callable[[], Awaitable[kopf.ConnectionInfo]]
) -> kopf.OperatorRegistry:
    """What kopf calls: once for each event of what is watched, and to log in."""
    handlers = kopf.OperatorRegistry()

    async def logged_in(**_: Any) -> kopf.ConnectionInfo:
        return await login()

    kopf.on.login(registry=handlers)(logged_in)
    for kind in WATCHED_KINDS:
        _watch(handlers, kind, seen)
    return handlers


def _watch(handlers: kopf.OperatorRegistry, kind: ResourceKind, seen: EventHandler) -> None:
    async def handler(event: Any, **_: Any) -> None:
        seen(kind, event["type"], event["object"])

    kopf.on.event(kind.group, kind.version, kind.plural, registry=handlers, id=f"see-{kind.plural}")(handler)


def kopf_settings(patience: WatchTimeouts) -> kopf.OperatorSettings:
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
    chosen.watching.chunk_size = LIST_LIMIT
    chosen.watching.inactivity_timeout = patience.watch
    chosen.watching.reconnect_backoff = 0.5
    chosen.queueing.idle_timeout = 1.0
    for kind in WATCHED_KINDS:
        wanted = watch_selector(kind)
        if wanted:
            chosen.watching.label_selectors[kind.group, kind.version, kind.plural] = wanted
    return chosen


def kopf_connection(found: Configuration) -> kopf.ConnectionInfo:
    """Where the API server is and who we are there, as kopf wants it said."""
    scheme, _, token = (found.api_key.get("BearerToken") or "").rpartition(" ")
    return kopf.ConnectionInfo(
        server=found.host,
        ca_path=found.ssl_ca_cert or None,
        ca_data=found.ca_cert_data or None,
        insecure=not found.verify_ssl,
        scheme=scheme.capitalize() or "Bearer" if token else None,
        token=token or None,
        certificate_path=found.cert_file or None,
        private_key_path=found.key_file or None,
        proxy_url=found.proxy or None,
        trust_env=uses_proxy(),
    )
