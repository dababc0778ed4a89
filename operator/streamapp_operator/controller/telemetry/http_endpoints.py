"""Where the operator is asked how it is: `/livez`, `/readyz` and `/metrics`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType

from aiohttp import hdrs, web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric as MetricFamily
from prometheus_client.registry import Collector

HealthCheck = Callable[[], str]
"""What is wrong; nothing where all is well."""


@asynccontextmanager
async def serve_endpoints(
    host: str | None,
    port: int,
    alive: HealthCheck,
    ready: HealthCheck,
    registry: CollectorRegistry,
    pages: Mapping[str, web.Application] = MappingProxyType({}),
) -> AsyncIterator[int]:
    """Answer for as long as this lasts; gives the port, a free one for 0. An OSError where it is taken.

    Pages are served as well, each below its prefix.
    """

    async def livez(_: web.Request) -> web.Response:
        return _health_response(alive())

    async def readyz(_: web.Request) -> web.Response:
        return _health_response(ready())

    async def metrics(request: web.Request) -> web.Response:
        return await _metrics_response(request, registry)

    app = web.Application()
    app.add_routes(
        [
            web.get("/livez", livez),
            web.get("/readyz", readyz),
            web.get("/metrics", metrics),
        ]
    )
    for prefix, page in pages.items():
        app.add_subapp(prefix, page)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def _health_response(fault: str) -> web.Response:
    return web.Response(status=500 if fault else 200, text=f"{fault or 'ok'}\n")


@dataclass(frozen=True, eq=False)  # a registry has collectors by their identity
class _CollectedMetrics(Collector):
    """Metrics with their samples of one moment."""

    families: tuple[MetricFamily, ...]

    def collect(self) -> Iterable[MetricFamily]:
        return self.families


async def _metrics_response(request: web.Request, registry: CollectorRegistry) -> web.Response:
    """All metrics. A thousand apps are 1.4 MB of text, which a thread writes while the loop continues."""
    collected = CollectorRegistry()
    collected.register(_CollectedMetrics(tuple(registry.collect())))
    encode, content_type = choose_encoder(request.headers.get(hdrs.ACCEPT, ""))
    body = await asyncio.to_thread(encode, collected)
    response = web.Response(body=body, headers={hdrs.CONTENT_TYPE: content_type})
    response.enable_compression()
    return response
