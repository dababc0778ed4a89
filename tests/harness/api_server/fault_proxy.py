"""A way to the API server on which things go wrong when a test says so."""

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from threading import Event, Thread
from time import monotonic

import aiohttp
from aiohttp import web

from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.api_sessions import session_to
from tests.harness.machine.processes import free_port

HANG = 0
"""In place of a code: no answer ever comes."""
LOST = -1
"""In place of a code: it is done, and the answer never comes."""


@dataclass(slots=True)
class Fault:
    """What happens to some requests, so many times."""

    method: str
    path: str  # a regular expression, looked for in path and query
    code: int
    times: int
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""

    def hits(self, method: str, path: str) -> bool:
        return self.times > 0 and method == self.method and re.search(self.path, path) is not None


@dataclass(slots=True)
class Asked:
    """A request that came."""

    at: float
    method: str
    path: str
    code: int


@dataclass(slots=True)
class FaultProxy:
    """Forwards what it is asked, but for the faults. Its fields are set by the test's thread."""

    server: ApiServer
    port: int
    faults: list[Fault] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    away: bool = False  # nothing comes through, and nothing says so
    delay: float = 0.0  # seconds that every request waits
    ahead: float = 0.0  # seconds by which the server's clock is ahead, by the dates of its answers
    session: aiohttp.ClientSession | None = None
    _generation: int = 0  # of watches: older ones bring nothing any more
    _cut: int = 0  # older ones are closed

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def fail(self, method: str, path: str, code: int, times: int = 1, **headers: str) -> None:
        """Answer so many such requests with this code, or never."""
        said = {"kind": "Status", "code": code, "reason": "", "message": "a fault"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.faults.append(Fault(method, path, code, times, named, json.dumps(said)))

    def expire(self, path: str, times: int = 1) -> None:
        """Tell so many watches that what they know is too old."""
        said = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}
        self.faults.append(Fault("GET", rf"{path}.*watch=", 200, times, body=json.dumps(said) + "\n"))

    def silence_watches(self) -> None:
        """Watches that are open stay open and bring nothing more."""
        self._generation += 1

    def cut_watches(self) -> None:
        """Watches that are open end."""
        self._cut += 1

    def left(self) -> int:
        """How many faults are still to come."""
        return sum(fault.times for fault in self.faults)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path = request.path_qs
        await asyncio.sleep(self.delay)
        if self.away:
            await self._nothing(request, path)
        for fault in self.faults:
            if fault.hits(request.method, path):
                fault.times -= 1
                if fault.code == LOST:
                    await self._forward(request, path)
                if fault.code in (HANG, LOST):
                    await self._nothing(request, path)
                self._note(request, path, fault.code)
                return web.Response(
                    status=fault.code, headers=fault.headers, text=fault.body, content_type="application/json"
                )
        return await self._forward(request, path)

    async def _nothing(self, request: web.Request, path: str) -> None:
        self._note(request, path, HANG)
        await asyncio.Event().wait()

    def _note(self, request: web.Request, path: str, code: int) -> None:
        self.asked.append(Asked(monotonic(), request.method, path, code))

    async def _forward(self, request: web.Request, path: str) -> web.StreamResponse:
        generation, cut = self._generation, self._cut
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() in ("authorization", "content-type", "accept")
        }
        assert self.session is not None
        async with self.session.request(
            request.method, self.server.url + path, data=await request.read() or None, headers=headers
        ) as reply:
            self._note(request, path, reply.status)
            date = parsedate_to_datetime(reply.headers["Date"]) + timedelta(seconds=self.ahead)
            passed = {
                "Content-Type": reply.headers.get("Content-Type", "application/json"),
                "Date": format_datetime(date, usegmt=True),
            }
            if "watch=" not in path:
                return web.Response(status=reply.status, headers=passed, body=await reply.read())
            response = web.StreamResponse(status=reply.status, headers=passed)
            await response.prepare(request)
            following = asyncio.ensure_future(reply.content.readany())
            while cut == self._cut:
                done, _ = await asyncio.wait({following}, timeout=0.1)
                if not done:
                    continue
                chunk = following.result()
                if not chunk:
                    break
                if (generation, cut) == (self._generation, self._cut) and not self.away:
                    await response.write(chunk)
                following = asyncio.ensure_future(reply.content.readany())
            following.cancel()
            return response


@contextmanager
def proxied(server: ApiServer) -> Iterator[FaultProxy]:
    """A proxy for as long as this lasts."""
    proxy = FaultProxy(server, free_port())
    began, loop = Event(), asyncio.new_event_loop()
    ending = asyncio.Event()

    async def serve() -> None:
        app = web.Application(client_max_size=16 * 1024**2)
        app.router.add_route("*", "/{path:.*}", proxy.handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        async with session_to(server, limit=0) as proxy.session:
            await runner.setup()
            listening = socket.create_server(("127.0.0.1", proxy.port))
            await web.SockSite(runner, listening).start()
            began.set()
            await ending.wait()
            # A server that closes loses whom it has let in and not met: let nobody in, and meet who is there.
            loop.remove_reader(listening)
            await asyncio.sleep(0)
            await runner.cleanup()

    thread = Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert began.wait(30)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join(30)
        loop.close()
