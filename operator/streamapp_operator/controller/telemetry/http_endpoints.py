"""Where the operator is asked how it is: `/livez`, `/readyz` and `/metrics`."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.aiohttp import make_aiohttp_handler

HealthCheck = Callable[[], str]
"""What is wrong; nothing where all is well."""


@asynccontextmanager
async def serve_endpoints(
    host: str | None, port: int, alive: HealthCheck, ready: HealthCheck, registry: CollectorRegistry
) -> AsyncIterator[int]:
    """Answer for as long as this lasts; gives the port, a free one for 0. An OSError where it is taken."""

    async def livez(_: web.Request) -> web.Response:
        return _health_response(alive())

    async def readyz(_: web.Request) -> web.Response:
        return _health_response(ready())

    app = web.Application()
    app.add_routes(
        [
            web.get("/livez", livez),
            web.get("/readyz", readyz),
            web.get("/metrics", make_aiohttp_handler(registry)),
        ]
    )
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
