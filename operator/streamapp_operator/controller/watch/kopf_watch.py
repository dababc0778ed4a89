"""kopf as the source of watch events: handlers, settings and connection."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, repeat
from typing import Any, cast

import aiohttp
import kopf
from kubernetes.aio.client.configuration import Configuration

from streamapp.spec.resource.app import GROUP
from streamapp_operator.controller.client.api_cluster_client import LIST_LIMIT
from streamapp_operator.controller.client.api_requests import TOO_MANY_REQUESTS, retry_after_seconds
from streamapp_operator.controller.client.client_configuration import uses_proxy
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind
from streamapp_operator.controller.watch.cache_comparison import watch_selector
from streamapp_operator.controller.watch.object_cache import WATCHED_KINDS
from streamapp_operator.controller.watch.watch_timeouts import WatchTimeouts

THROTTLED_SECONDS = 1.0
"""Seconds until a throttled request is sent again where the server names none."""
EventHandler = Callable[[ResourceKind, str | None, Manifest], None]
"""Called with a kind, the type of the event (None: from a list), and the object."""


class _EndlessBackoff:
    """Delays between retries, without end: an operator that cannot reach its API server waits for it."""

    def __iter__(self) -> Iterator[float]:
        return chain((1.0, 2.0, 3.0, 5.0), repeat(8.0))


class _NoDiffBase(kopf.DiffBaseStorage):
    """Replaces kopf's record of each object's last state, which costs a copy at each event."""

    def build(self, *, body: kopf.Body, extra_fields: object = None) -> kopf.BodyEssence:
        """No record."""
        return cast("kopf.BodyEssence", {})

    def fetch(self, *, body: kopf.Body) -> kopf.BodyEssence | None:
        """No record."""
        return None

    def store(self, *, body: kopf.Body, patch: kopf.Patch, essence: kopf.BodyEssence) -> None:
        """Nothing to store."""


def handler_registry(
    on_event: EventHandler, login: Callable[[], Awaitable[kopf.AiohttpSession]]
) -> kopf.OperatorRegistry:
    """The handlers that kopf calls: for each watch event, and to log in."""
    handlers = kopf.OperatorRegistry()

    async def handle_login(**_: Any) -> kopf.AiohttpSession:
        return await login()

    kopf.on.login(registry=handlers)(handle_login)
    for kind in WATCHED_KINDS:
        _watch(handlers, kind, on_event)
    return handlers


def _watch(handlers: kopf.OperatorRegistry, kind: ResourceKind, on_event: EventHandler) -> None:
    async def handler(event: Any, **_: Any) -> None:
        on_event(kind, event["type"], event["object"])

    kopf.on.event(kind.group, kind.version, kind.plural, registry=handlers, id=f"see-{kind.plural}")(handler)


def kopf_settings(timeouts: WatchTimeouts) -> kopf.OperatorSettings:
    """Settings of kopf: nothing that writes, and watches with a timeout."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.persistence.diffbase_storage = _NoDiffBase()
    settings.persistence.finalizer = (
        f"{GROUP}/not-in-use"  # kopf removes its own finalizer, which another operator may need
    )
    settings.process.ultimate_exiting_timeout = None
    settings.networking.request_timeout = 30.0
    settings.networking.connect_timeout = 5.0
    settings.networking.error_backoffs = _EndlessBackoff()
    settings.watching.server_timeout = 600
    settings.watching.chunk_size = LIST_LIMIT
    settings.watching.inactivity_timeout = timeouts.watch_inactivity
    settings.watching.reconnect_backoff = 0.5
    settings.queueing.idle_timeout = 1.0
    for kind in WATCHED_KINDS:
        selector = watch_selector(kind)
        if selector:
            settings.watching.label_selectors[kind.group, kind.version, kind.plural] = selector
    return settings


async def _wait_when_throttled(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Send a request again where the server is busy: kopf would wait for as long as any server asks."""
    while True:
        response = await send(request)
        if response.status != TOO_MANY_REQUESTS:
            return response
        seconds = retry_after_seconds(response.headers)
        response.close()
        await asyncio.sleep(THROTTLED_SECONDS if seconds is None else seconds)


def kopf_connection(configuration: Configuration) -> kopf.AiohttpSession:
    """The client configuration as kopf's connection; called within the event loop."""
    scheme, _, token = (configuration.api_key.get("BearerToken") or "").rpartition(" ")
    connection = kopf.ConnectionInfo(
        server=configuration.host,
        ca_path=configuration.ssl_ca_cert or None,
        ca_data=configuration.ca_cert_data or None,
        insecure=not configuration.verify_ssl,
        scheme=scheme.capitalize() or "Bearer" if token else None,
        token=token or None,
        certificate_path=configuration.cert_file or None,
        private_key_path=configuration.key_file or None,
    )
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=connection.as_ssl_context()),
        headers=connection.as_http_headers(),
        proxy=configuration.proxy or None,
        trust_env=uses_proxy(),
        middlewares=(_wait_when_throttled,),
    )
    return kopf.AiohttpSession(server=configuration.host, aiohttp_session=session)
