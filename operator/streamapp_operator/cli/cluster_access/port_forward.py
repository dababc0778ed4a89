"""A port of a pod on this machine, through the API server, as `kubectl port-forward` has it.

The client library opens the WebSocket with the user's credentials; what it carries is Kubernetes' protocol of
channels: each message begins with the number of its channel, and the first of a channel names the port.
"""

import asyncio
from contextlib import suppress
from typing import Final
from urllib.parse import quote

import aiohttp
from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.stream.ws_client import WsApiClient

from streamapp_operator.controller.client.api_requests import authorised_headers
from streamapp_operator.controller.client.manifest import object_path
from streamapp_operator.controller.client.resource_kinds import POD

DATA: Final = 0
ERROR: Final = 1
_CHUNK: Final = 32 * 1024
_PORT_BYTES: Final = 2


class PortForwardError(Exception):
    """A pod's port cannot be reached: what the API server or the pod's node says of it."""


async def forward_connection(
    configuration: Configuration,
    pod: tuple[str, str],
    port: int,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Carry one connection to a port of a pod, by namespace and name, until either side ends it."""
    client = WsApiClient(configuration)
    path = f"{object_path(POD, *pod)}/portforward"
    try:
        headers = await authorised_headers(client, "GET", path)
        url = f"{configuration.host}{path}?ports={quote(str(port))}"
        opening = await client.request("GET", url, headers=headers, _preload_content=False)
        async with opening as socket:
            sending = asyncio.create_task(_send(reader, socket))
            try:
                await _receive(socket, writer)
            finally:
                sending.cancel()
                with suppress(asyncio.CancelledError, ConnectionError):
                    await sending
    except aiohttp.WSServerHandshakeError as error:
        raise PortForwardError(f"the API server answers {error.status}: {error.message}") from error
    except aiohttp.ClientError as error:
        raise PortForwardError(str(error)) from error
    finally:
        await client.close()


async def _send(reader: asyncio.StreamReader, socket: aiohttp.ClientWebSocketResponse) -> None:
    while data := await reader.read(_CHUNK):
        await socket.send_bytes(bytes((DATA,)) + data)
    await socket.close()


async def _receive(socket: aiohttp.ClientWebSocketResponse, writer: asyncio.StreamWriter) -> None:
    opened = set[int]()
    async for message in socket:
        if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
            continue
        channel, payload = message.data[0], message.data[1:]
        if channel not in opened:
            opened.add(channel)
            payload = payload[_PORT_BYTES:]
        if payload and channel == ERROR:
            raise PortForwardError(payload.decode(errors="replace").strip())
        if payload:
            writer.write(payload)
            await writer.drain()
