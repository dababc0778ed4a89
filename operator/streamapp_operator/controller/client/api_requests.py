"""Requests to the API server: one pooled client, a time limit for each request, and typed errors."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
from kubernetes.aio.client.api_client import ApiClient
from kubernetes.aio.client.configuration import Configuration

from streamapp_operator.controller.client.api_errors import RejectedError, UnansweredError
from streamapp_operator.controller.client.server_clock import ServerClock

REQUEST_SECONDS = 8.0
"""Seconds that a request may take, including the waits for a connection and for Retry-After."""
CLOSE_SECONDS = 0.05
"""Seconds for connections to close in order; an event loop that ends at once leaves them open."""
MAX_RETRY_AFTER_SECONDS = 5.0
"""A server that asks for more is asked again after this time, before the Lease is lost: one wrong answer must
not stop all apps."""
MAX_CONNECTIONS = 32
JSON = "application/json"
ANY = "*/*"
"""Accepts what is no JSON, such as a log: the reply's body is its text."""
TOO_MANY_REQUESTS = 429
_BUSY = (TOO_MANY_REQUESTS, 503)
_REJECTED = (400, 403, 404, 405, 413, 415, 422)


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request to the API server."""

    verb: str  # as RBAC and the metrics call it
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None
    content: str = JSON
    accept: str = JSON
    expected: tuple[int, ...] = ()  # error codes that the caller handles


@dataclass(frozen=True, slots=True)
class ApiReply:
    """A reply of the API server."""

    code: int
    body: Any

    @property
    def reason(self) -> str:
        """The `reason` of a Kubernetes error."""
        return str(self.body.get("reason", "")) if isinstance(self.body, dict) else ""


class ApiTransport:
    """A connection pool to the API server, used within one event loop; call `close` at the end."""

    def __init__(
        self,
        configuration: Configuration,
        on_request: Callable[[str, str], None],
        clock: ServerClock | None = None,
    ) -> None:
        configuration.connection_pool_maxsize = MAX_CONNECTIONS
        self._client = ApiClient(configuration)
        self._client.user_agent = "streamapp-operator"
        self._on_request = on_request  # a verb, and a code or "none"
        self._throttled_until = 0.0
        self.clock = clock or ServerClock()

    async def close(self) -> None:
        """Close the connections, and let those of cancelled requests finish their TLS shutdown."""
        await self._client.close()
        await asyncio.sleep(CLOSE_SECONDS)

    async def send(self, request: ApiRequest, limit: float = REQUEST_SECONDS) -> ApiReply:
        """Send a request and await the reply for at most `limit` seconds."""
        try:
            async with asyncio.timeout(limit):
                await self._await_throttle(limit)
                reply = await self._request(request, limit)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            self._on_request(request.verb, "none")
            raise UnansweredError(
                f"{request.method} {request.path}: {type(error).__name__} {error}".strip()
            ) from None
        return reply

    async def _request(self, request: ApiRequest, limit: float) -> ApiReply:
        headers = {"Content-Type": request.content, "Accept": request.accept} | await authorised_headers(
            self._client, request.method, request.path, request.body
        )
        query = f"?{urlencode(request.query)}" if request.query else ""
        began = self.clock.begin()
        response = await self._client.rest_client.request(
            request.method,
            f"{self._client.configuration.host}{request.path}{query}",
            headers=headers,
            body=request.body,
            _request_timeout=aiohttp.ClientTimeout(total=limit),
        )
        try:
            self.clock.answered(response.headers.get("Date"), began)
            content = await response.read()
        finally:
            response.response.release()
        self._on_request(request.verb, str(response.status))
        is_text = request.accept == ANY and response.status < 400
        reply = ApiReply(response.status, content.decode(errors="replace") if is_text else _decode(content))
        if not 200 <= reply.code < 300 and reply.code not in request.expected:
            raise self._failure(request, reply, retry_after_seconds(response.headers))
        return reply

    async def _await_throttle(self, limit: float) -> None:
        """Wait as long as the server asked: a Retry-After applies to all requests."""
        seconds_left = self._throttled_until - asyncio.get_running_loop().time()
        if seconds_left >= limit:
            raise UnansweredError("the API server asks to be left alone", after=seconds_left)
        if seconds_left > 0:
            await asyncio.sleep(seconds_left)

    def _failure(self, request: ApiRequest, reply: ApiReply, after: float | None) -> Exception:
        detail = reply.body.get("message", "") if isinstance(reply.body, dict) else reply.body
        message = f"{request.method} {request.path}: {reply.code} {detail}"
        if reply.code in _REJECTED:
            return RejectedError(reply.code, reply.reason, str(detail) or message)
        if after is not None and reply.code in _BUSY:
            self._throttled_until = asyncio.get_running_loop().time() + after
        return UnansweredError(message, after)


async def authorised_headers(client: ApiClient, method: str, path: str, body: Any = None) -> dict[str, str]:
    """The headers of a request with the user's or account's credentials."""
    headers = dict(client.default_headers)
    await client.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
    return headers


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, within bounds; None where it names no number of them."""
    text = headers.get("Retry-After", "")
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return min(float(text), MAX_RETRY_AFTER_SECONDS) if is_number else None


def _decode(content: bytes) -> Any:
    try:
        return json.loads(content) if content else {}
    except ValueError:
        return content.decode(errors="replace")
