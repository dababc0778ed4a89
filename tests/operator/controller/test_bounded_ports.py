"""The operator's ports answer a kubelet beside whoever holds connections open."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from prometheus_client import CollectorRegistry

from streamapp_operator.controller.telemetry import bounded_http
from streamapp_operator.controller.telemetry.bounded_http import serve_bounded
from streamapp_operator.controller.telemetry.http_endpoints import serve_endpoints
from tests.harness.machine.processes import free_port

pytestmark = pytest.mark.usefixtures("loopback")
HEALTHY = "127.0.0.1", 0, lambda: "", lambda: "", CollectorRegistry()
PROBE = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


async def asked(port: int, request: bytes = PROBE) -> bytes:
    """All that is answered until the connection ends."""
    async with asyncio.timeout(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer


async def until_ended(strangers: list[asyncio.StreamReader], number: int) -> None:
    """Wait until so many connections have ended."""
    async with asyncio.timeout(10):
        while sum(stranger.at_eof() or stranger.exception() is not None for stranger in strangers) < number:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def strangers_at(port: int, number: int) -> AsyncIterator[list[asyncio.StreamReader]]:
    """Connections that ask for nothing, every second one with the beginning of a request."""
    connections = []
    for index in range(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /livez HTTP/1.1\r\n" * (index % 2))
        connections.append((reader, writer))
    try:
        yield [reader for reader, _ in connections]
    finally:
        for _, writer in connections:
            writer.transport.abort()


@pytest.mark.parametrize(("host", "most"), [("127.0.0.1", 64), (None, 16)])
def test_a_probe_is_answered_beside_hundreds_of_connections_that_ask_for_nothing(
    host: str | None, most: int
) -> None:
    async def probed() -> bytes:
        _, _, *checks = HEALTHY
        async with serve_endpoints(host, free_port(), *checks) as port, strangers_at(port, 150) as strangers:
            answer = await asked(port)
            await until_ended(strangers, 150 - most + 1)
            return answer

    assert asyncio.run(probed()).startswith(b"HTTP/1.1 200 OK")


def test_who_does_not_say_in_time_what_it_wants_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_http, "REQUEST_SECONDS", 0.05)

    async def probed() -> bytes:
        async with serve_endpoints(*HEALTHY) as port, strangers_at(port, 4) as strangers:
            await until_ended(strangers, 4)
            return await asked(port)

    assert asyncio.run(probed()).startswith(b"HTTP/1.1 200 OK")


def test_who_does_not_take_its_answer_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_http, "ANSWER_SECONDS", 0.05)

    ends = list[asyncio.BaseTransport | None]()

    async def large(request: web.Request) -> web.Response:
        ends.append(request.transport)
        return web.Response(body=bytes(2**24))

    async def ended() -> None:
        application = web.Application()
        application.router.add_get("/livez", large)
        async with serve_bounded("127.0.0.1", 0, application) as port, asyncio.timeout(10):
            _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            writer.write(PROBE)
            while not ends or not (ends[0] is None or ends[0].is_closing()):
                await asyncio.sleep(0.01)
            writer.transport.abort()

    asyncio.run(ended())


@pytest.mark.parametrize("path", ["/livez", "/metrics", "/nothing"])
@pytest.mark.parametrize("header", ["Host: evil.example", "Host: localhost\r\nSec-Fetch-Site: cross-site"])
def test_an_operator_on_loopback_answers_no_other_host_and_no_page_of_another_site(
    path: str, header: str
) -> None:
    async def status(host: str | None) -> bytes:
        _, _, *checks = HEALTHY
        request = PROBE.replace(b"Host: localhost", header.encode()).replace(b"/livez", path.encode())
        async with serve_endpoints(host, free_port(), *checks) as port:
            return (await asked(port, request)).split()[1]

    assert asyncio.run(status("127.0.0.1")) == b"403"
    assert asyncio.run(status(None)) == (b"404" if path == "/nothing" else b"200")


def test_the_page_of_all_apps_has_a_port_of_its_own_and_metrics_no_page() -> None:
    async def statuses() -> tuple[bytes, bytes]:
        async with serve_endpoints(*HEALTHY) as port:
            page = await asked(port, PROBE.replace(b"/livez", b"/apps/"))
            return page, await asked(port, PROBE.replace(b"/livez", b"/metrics"))

    page, metrics = asyncio.run(statuses())
    assert page.startswith(b"HTTP/1.1 404")
    assert metrics.startswith(b"HTTP/1.1 200")
