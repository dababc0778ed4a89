"""A kubelet that forwards ports of the pods of a played node to ports of this machine."""

import asyncio
from collections.abc import Callable
from threading import Event, Thread
from typing import Self

from aiohttp import WSMsgType, web

from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.played_node import kubelet_tls

SECONDS = 60.0
DATA, ERROR = b"\0", b"\1"


class ForwardingKubelet:
    """Forwards ports of the pods of its node as kubelets do: each pod's port is one of this machine."""

    def __init__(self, server: ApiServer) -> None:
        self.ports: dict[str, int] = {}  # by pod: what its port is here
        self._tls = kubelet_tls(server)
        self._stop: Callable[[], object] = bool
        self._begun = Event()
        self._thread = Thread(target=lambda: asyncio.run(self._serve()))
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._begun.wait(SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._thread.join()

    async def _serve(self) -> None:
        app = web.Application()
        app.router.add_get("/portForward/{namespace}/{pod}", self._forward)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._tls)
        await site.start()
        self.port = runner.addresses[0][1]
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        self._begun.set()
        await stopped.wait()
        await runner.cleanup()

    async def _forward(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(protocols=("v4.channel.k8s.io",))
        await socket.prepare(request)
        port = int(request.query["port"]).to_bytes(2, "little")
        await socket.send_bytes(DATA + port)
        await socket.send_bytes(ERROR + port)
        try:
            here = self.ports[request.match_info["pod"]]
            reader, writer = await asyncio.open_connection("127.0.0.1", here)
        except (KeyError, OSError):
            await socket.send_bytes(ERROR + b"failed to connect to localhost:9405 inside namespace")
            await socket.close()
            return socket
        back = asyncio.create_task(self._back(reader, socket))
        async for message in socket:
            if message.type is WSMsgType.BINARY:
                assert message.data[:1] == DATA
                writer.write(message.data[1:])
        writer.close()
        back.cancel()
        return socket

    async def _back(self, reader: asyncio.StreamReader, socket: web.WebSocketResponse) -> None:
        while data := await reader.read(5_000):
            await socket.send_bytes(DATA + data)
        await socket.close()
