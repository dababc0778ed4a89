"""Calls to the API server: one pooled client, each call bounded in time, failures told apart."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
from kubernetes.aio.client.api_client import ApiClient
from kubernetes.aio.client.configuration import Configuration

from streamapp_operator.controller.client.api_errors import RejectedError, UnansweredError

REQUEST_SECONDS = 8.0
"""Seconds that a call may take, with what it waits for a connection or because the server asked."""
CLOSE_SECONDS = 0.05
"""Seconds for connections to close in order; a loop that ends at once leaves them open."""
MAX_CONNECTIONS = 32
JSON = "application/json"
_BUSY = (429, 503)
_REJECTED = (400, 403, 404, 405, 413, 415, 422)


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """What is asked of the API server."""

    verb: str  # as RBAC and the metrics call it
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None
    content: str = JSON
    accept: str = JSON
    expected: tuple[int, ...] = ()  # codes that are answers here, not failures


@dataclass(frozen=True, slots=True)
class ApiReply:
    """What the API server answers."""

    code: int
    body: Any

    @property
    def reason(self) -> str:
        """Kubernetes' word for a failure."""
        return str(self.body.get("reason", "")) if isinstance(self.body, dict) else ""


class ApiTransport:
    """The way to the API server. Used within one event loop; `close` at the end."""

    def __init__(self, configuration: Configuration, counted: Callable[[str, str], None]) -> None:
        configuration.connection_pool_maxsize = MAX_CONNECTIONS
        self._client = ApiClient(configuration)
        self._client.user_agent = "streamapp-operator"
        self._counted = counted  # a verb, and a code or "none"
        self._quiet_until = 0.0

    async def close(self) -> None:
        """Close the connections; one on which a call was cut off still says goodbye then."""
        await self._client.close()
        await asyncio.sleep(CLOSE_SECONDS)

    async def send(self, call: ApiRequest, limit: float = REQUEST_SECONDS) -> ApiReply:
        """Ask, for at most so many seconds."""
        try:
            async with asyncio.timeout(limit):
                await self._quiet(limit)
                reply = await self._sent(call, limit)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            self._counted(call.verb, "none")
            raise UnansweredError(
                f"{call.method} {call.path}: {type(error).__name__} {error}".strip()
            ) from None
        return reply

    async def _sent(self, call: ApiRequest, limit: float) -> ApiReply:
        headers = {"Content-Type": call.content, "Accept": call.accept} | self._client.default_headers
        await self._client.update_params_for_auth(
            headers, [], ["BearerToken"], call.path, call.method, call.body
        )
        query = f"?{urlencode(call.query)}" if call.query else ""
        response = await self._client.rest_client.request(
            call.method,
            f"{self._client.configuration.host}{call.path}{query}",
            headers=headers,
            body=call.body,
            _request_timeout=aiohttp.ClientTimeout(total=limit),
        )
        try:
            content = await response.read()
        finally:
            response.response.release()
        self._counted(call.verb, str(response.status))
        reply = ApiReply(response.status, _read(content))
        if not 200 <= reply.code < 300 and reply.code not in call.expected:
            raise self._failure(call, reply, response.headers.get("Retry-After", ""))
        return reply

    async def _quiet(self, limit: float) -> None:
        """Heed what the server asked of any call: all of them leave it alone for that long."""
        left = self._quiet_until - asyncio.get_running_loop().time()
        if left >= limit:
            raise UnansweredError("the API server asks to be left alone", after=left)
        if left > 0:
            await asyncio.sleep(left)

    def _failure(self, call: ApiRequest, reply: ApiReply, retry_after: str) -> Exception:
        said = reply.body.get("message", "") if isinstance(reply.body, dict) else reply.body
        message = f"{call.method} {call.path}: {reply.code} {said}"
        if reply.code in _REJECTED:
            return RejectedError(reply.code, reply.reason, str(said) or message)
        after = float(retry_after) if retry_after.isdigit() else None
        if after is not None and reply.code in _BUSY:
            self._quiet_until = asyncio.get_running_loop().time() + after
        return UnansweredError(message, after)


def _read(content: bytes) -> Any:
    try:
        return json.loads(content) if content else {}
    except ValueError:
        return content.decode(errors="replace")
