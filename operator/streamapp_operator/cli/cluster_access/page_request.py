"""The data of a driver's page, fetched through a forwarded port."""

import asyncio
import socket
from http.client import HTTPException, parse_headers
from io import BytesIO
from typing import Final

from kubernetes.aio.client.configuration import Configuration

from streamapp.cli.app_table.app_figures import RunFigures
from streamapp.cli.app_table.page_figures import ANSWER_SECONDS, PAGE_DATA, ForeignPageError, run_figures
from streamapp.protocol.message_names import PAGE_PORT
from streamapp_operator.cli.cluster_access.port_forward import PortForwardError, forward_connection

_REQUEST: Final = f"GET {PAGE_DATA} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".encode()


class PageUnansweredError(Exception):
    """The page of a driver cannot be read; the message says why."""


async def read_page(configuration: Configuration, namespace: str, pod: str) -> RunFigures:
    """The figures of a driver's page now; a PageUnansweredError where it does not answer within seconds."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return run_figures(*await _forwarded_answer(configuration, (namespace, pod)))
    except TimeoutError:
        raise PageUnansweredError(f"nothing came within {ANSWER_SECONDS:g} s") from None
    except (PortForwardError, ForeignPageError, HTTPException, EOFError, OSError, ValueError) as error:
        raise PageUnansweredError(str(error)) from error


async def _forwarded_answer(configuration: Configuration, pod: tuple[str, str]) -> tuple[int, bytes]:
    """Status and body of what the page answers; a PortForwardError where nothing reaches it."""
    near, far = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=near)
    far_reader, far_writer = await asyncio.open_connection(sock=far)
    forwarding = asyncio.create_task(_forward(configuration, pod, far_reader, far_writer))
    try:
        writer.write(_REQUEST)
        return await _answer(reader)
    except EOFError:
        await forwarding
        raise
    finally:
        forwarding.cancel()
        writer.close()
        await asyncio.gather(forwarding, return_exceptions=True)


async def _forward(
    configuration: Configuration,
    pod: tuple[str, str],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    try:
        await forward_connection(configuration, pod, PAGE_PORT, reader, writer)
    finally:
        writer.close()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Read an answer by its length: a node may leave the connection open behind it."""
    status_line = await reader.readuntil(b"\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    length = parse_headers(BytesIO(head)).get("Content-Length", "0")
    return int(status_line.split()[1]), await reader.readexactly(int(length))
