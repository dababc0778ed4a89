"""Connections of tests to an API server, closed before their loop ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from tests.harness.api_server.api_server import ApiServer


@asynccontextmanager
async def session_to(server: ApiServer, limit: int, **headers: str) -> AsyncIterator[aiohttp.ClientSession]:
    """So many connections at once, 0 for any number; what is left of them is cut off at the end."""
    connector = aiohttp.TCPConnector(ssl=server.trusting(), limit=limit)
    try:
        async with aiohttp.ClientSession(
            connector=connector, headers=headers, connector_owner=False
        ) as session:
            yield session
    finally:
        await connector.close(abort_ssl=True)
        await asyncio.sleep(0)  # in which the transports that were cut off say so to their protocols
