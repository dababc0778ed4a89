"""Connections of tests to an API server, closed in order before their loop ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from streamapp_operator.controller.client.api_requests import CLOSE_SECONDS
from tests.harness.api_server.api_server import ApiServer


@asynccontextmanager
async def session_to(server: ApiServer, limit: int, **headers: str) -> AsyncIterator[aiohttp.ClientSession]:
    """So many connections at once, 0 for any number; what was cut off on them still says goodbye."""
    connector = aiohttp.TCPConnector(ssl=server.trusting(), limit=limit)
    try:
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
            yield session
    finally:
        await asyncio.sleep(CLOSE_SECONDS)
