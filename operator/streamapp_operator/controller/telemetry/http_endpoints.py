"""The endpoints for the operator's health and metrics: `/livez`, `/readyz` and `/metrics`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import hdrs, web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric as MetricFamily
from prometheus_client.registry import Collector

from streamapp_operator.controller.telemetry.bounded_http import serve_bounded

HealthCheck = Callable[[], str]
"""What is wrong; nothing where all is well."""


@asynccontextmanager
async def serve_endpoints(
    host: str | None,
    port: int,
    alive: HealthCheck,
    ready: HealthCheck,
    registry: CollectorRegistry,
) -> AsyncIterator[int]:
    """Answer for as long as this lasts; gives the port, a free one for 0. An OSError where it is taken."""

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
    async with serve_bounded(host, port, app) as served_port:
        yield served_port


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
