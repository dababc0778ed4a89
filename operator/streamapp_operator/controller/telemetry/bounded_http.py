"""Serves HTTP with the bounds on connections that a driver's ports have: who comes is always taken."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final

from aiohttp import hdrs, web

from streamapp.connection_bounds import MOST_CONNECTIONS, MOST_OF_ADDRESS, REQUEST_SECONDS, ConnectionBounds
from streamapp.served_pages.page_safety import FETCH_SITE, loopback_refusal

LOOPBACK: Final = "127.0.0.1"
ANSWER_SECONDS: Final = 30.0
"""So long a request may take with its answer, and a connection until the next one."""
_CHECK_SECONDS: Final = 0.1
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serve_bounded(host: str | None, port: int, application: web.Application) -> AsyncIterator[int]:
    """Answer for as long as this lasts; gives the port, a free one for 0. An OSError where it is taken.

    Without a host on all addresses, where other machines can ask. On loopback requests have to name this
    machine as their host, and come from no page of another site.
    """
    connections = _Connections(MOST_OF_ADDRESS if host is None else MOST_CONNECTIONS)
    application.middlewares.append(connections.note_request)
    if host == LOOPBACK:
        application.middlewares.append(_refuse_foreign)
    runner = web.AppRunner(
        application, access_log=None, shutdown_timeout=1.0, keepalive_timeout=REQUEST_SECONDS
    )
    await runner.setup()
    handlers = runner.server
    if handlers is None:
        raise RuntimeError("a runner without a server after its setup")
    try:
        server = await asyncio.get_running_loop().create_server(
            lambda: _BoundedConnection(handlers(), connections), host, port
        )
        ending = asyncio.create_task(connections.end_overdue())
        try:
            yield int(server.sockets[0].getsockname()[1])
        finally:
            ending.cancel()
            server.close()
    finally:
        await runner.cleanup()


@web.middleware
async def _refuse_foreign(request: web.Request, handler: _Handler) -> web.StreamResponse:
    host, fetch_site = (request.headers.get(name, "") for name in (hdrs.HOST, FETCH_SITE))
    if refusal := loopback_refusal(host, fetch_site):
        raise web.HTTPForbidden(text=refusal)
    return await handler(request)


class _Connections:
    """The connections of a server, which end when there are too many or when they take too long."""

    def __init__(self, most_of_address: int) -> None:
        self._bounds = ConnectionBounds[asyncio.Transport](MOST_CONNECTIONS, most_of_address, REQUEST_SECONDS)

    def add(self, connection: asyncio.Transport) -> None:
        """Take a connection, and end another one where there are too many."""
        address = connection.get_extra_info("peername") or ("",)
        excess = self._bounds.add(connection, address[0], monotonic())
        if excess is not None:
            self._end(excess)

    def forget(self, connection: asyncio.Transport) -> None:
        """Bound a connection no more."""
        self._bounds.forget(connection)

    async def end_overdue(self) -> None:
        """End the connections that have not said in time what they want, or not taken the answer."""
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            for connection in self._bounds.overdue(monotonic()):
                self._end(connection)

    @web.middleware
    async def note_request(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Note that a connection has said what it wants."""
        if request.transport is not None:
            self._bounds.settle(request.transport, monotonic() + ANSWER_SECONDS)
        return await handler(request)

    def _end(self, connection: asyncio.Transport) -> None:
        self._bounds.forget(connection)
        connection.abort()


class _BoundedConnection(asyncio.Protocol):
    """A connection to an HTTP handler that is counted."""

    def __init__(self, handler: asyncio.Protocol, connections: _Connections) -> None:
        self._handler = handler
        self._connections = connections
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count it."""
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a connection of no stream")
        self._transport = transport
        self._handler.connection_made(transport)
        self._connections.add(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """Count it no more."""
        if self._transport is not None:
            self._connections.forget(self._transport)
        self._handler.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Hand it on."""
        self._handler.data_received(data)

    def eof_received(self) -> bool | None:
        """Hand it on."""
        return self._handler.eof_received()

    def pause_writing(self) -> None:
        """Hand it on."""
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        """Hand it on."""
        self._handler.resume_writing()
