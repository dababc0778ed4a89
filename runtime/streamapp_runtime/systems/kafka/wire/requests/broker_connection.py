"""One connection to a broker: requests go out, answers come in the same order."""

import math
import socket
import ssl
import struct
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from streamapp_runtime.systems.kafka.wire.batch_format import varints
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Octets
from streamapp_runtime.systems.kafka.wire.requests.broker_names import AddressFamily
from streamapp_runtime.systems.kafka.wire.requests.broker_network import BrokerNetwork
from streamapp_runtime.systems.kafka.wire.requests.request_fields import (
    RequestBody,
    ResponseReader,
    WriteRequest,
)
from streamapp_runtime.systems.kafka.wire.requests.request_versions import (
    API_VERSIONS,
    BrokerRequest,
    BrokerVersions,
    ClusterFeatures,
    ask_versions,
    write_api_versions,
)
from streamapp_runtime.systems.kafka.wire.requests.sasl_login import SaslLogin

_LARGEST = 1 << 30  # no broker sends so much: what says so is no broker
_HEAD = struct.Struct(">ii")
_SPARE = 65_536
CONNECT_SECONDS = 1.0
"""How long a broker may take to accept a connection. One that was cut off gets another attempt so often."""
_LOOK_SECONDS = 0.5
"""How often a broker is looked at whose answer does not come."""
_UNACKNOWLEDGED_MS = 3_000
"""How long the other side's system may leave unacknowledged what was sent, or not answer to keep-alives.

A system that was cut off is tried again later and later, up to two minutes; a new connection is made at once.
"""
_LOGIN_SHARE = 0.85
"""The share of the time that a login holds after which it is repeated."""
_OPTIONS = {
    "TCP_NODELAY": 1,
    "TCP_USER_TIMEOUT": _UNACKNOWLEDGED_MS,
    "TCP_KEEPIDLE": 1,
    "TCP_KEEPINTVL": 1,
    "TCP_KEEPCNT": 3,
}
"""Those that the system has: not all are of every Unix."""
_MACHINE = BrokerNetwork()


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """The host and port on which a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """The settings of all connections to one cluster; plain and without a login as they are."""

    tls: ssl.SSLContext | None = None
    login: SaslLogin | None = field(default=None, repr=False)
    timeout: float = 15.0
    """How long anything may take, and for how long what fails is tried again."""
    connect_seconds: float = CONNECT_SECONDS
    idle_seconds: float | None = None
    """A connection that was unused for longer is replaced: somebody between may have dropped it."""
    client: str = "streamapp"
    family: AddressFamily = AddressFamily.ANY
    largest_answer: int = _LARGEST
    buffer_sizes: Mapping[int, int] = field(default_factory=dict)
    """The sizes of a socket's buffers, by the number of its option."""
    network: BrokerNetwork = _MACHINE


PLAINTEXT = ConnectionSettings()


def _nothing(_: object) -> None:
    """No reaction, for where nobody else can be asked or told."""


class BrokerConnection:
    """A socket that speaks the protocol. Any OSError or MalformedError is its end: close it then."""

    def __init__(
        self,
        address: BrokerAddress,
        settings: ConnectionSettings,
        silent: Callable[["BrokerConnection"], None] = _nothing,
        throttled: Callable[[float], None] = _nothing,
    ) -> None:
        """`silent` is called while an answer is long in coming; an OSError of it ends the wait.

        `throttled` is told the seconds for which a quota has kept requests waiting.
        """
        self.address = address
        self._settings = settings
        self._network = settings.network
        self._client = settings.client.encode()
        self._timeout = settings.timeout
        self._silent = silent
        self._throttled = throttled
        self._quiet_until = -math.inf
        try:
            self._socket = _connected(address, settings)
        except ssl.SSLError:
            raise
        except OSError as error:
            raise _failure(address, error) from None
        self._sent = 0
        self._answered = 0
        self._unanswered: deque[tuple[BrokerRequest, int]] = deque()  # with the version of each
        self._versions: BrokerVersions | None = None  # until the first request
        self._used = self._network.now()
        self._login_until = math.inf if settings.login is None else -math.inf
        self._room: Octets = np.empty(_SPARE, np.uint8)

    @property
    def features(self) -> ClusterFeatures:
        """The features of the cluster, once something was asked."""
        return self._versions.features if self._versions else ClusterFeatures()

    def send(self, request: BrokerRequest, write: WriteRequest, seconds: float | None = None) -> int:
        """Send a request in the newest version that both sides know; gives its number, to ask for its answer.

        Before the first one the broker is asked for its versions, and the client logs in. `seconds` is how
        long nothing may come of that, where it is less than anything may take.
        """
        self._await_quota()
        self._used = self._network.now()
        if self._versions is None:
            self._versions = ask_versions(
                lambda version: self.receive(self._send(API_VERSIONS, version, write_api_versions), seconds)
            )
        if self._used > self._login_until and self.idle:
            self._log_in(seconds)
        return self._send(request, self._versions.newest(request, self.address), write)

    def fileno(self) -> int:
        """The descriptor that can be read once an answer comes."""
        return self._socket.fileno()

    def awaits(self, number: int) -> bool:
        """True if the answer to a request is still to come."""
        return number > self._answered

    @property
    def idle(self) -> bool:
        """True if no answer is to come."""
        return self._sent == self._answered

    @property
    def is_stale(self) -> bool:
        """True if the connection was unused for so long that another one is made."""
        limit = self._settings.idle_seconds
        return limit is not None and self.idle and self._network.now() > self._used + limit

    def receive(self, number: int, seconds: float | None = None) -> ResponseReader:
        """The answer to a request; those to earlier ones, which nobody asked for, are dropped.

        It is good until the next one is received. `seconds` is how long nothing may come, where that is
        less than anything may take.
        """
        while True:
            size, correlation = _HEAD.unpack_from(self._read(_HEAD.size, seconds).data)
            if not 4 <= size <= self._settings.largest_answer:
                raise MalformedError(f"{self.address} does not speak Kafka's protocol")
            octets = self._read(size - 4, seconds)
            self._answered += 1
            if correlation != self._answered:
                raise MalformedError(f"{self.address} answered what was not asked")
            request, version = self._unanswered.popleft()
            if correlation == number:
                flexible = version >= request.flexible_from
                answer = ResponseReader(octets, size - 4, version, flexible=flexible)
                if request is not API_VERSIONS:  # whose head is the same in all versions
                    answer.tags()
                if request.begins_with_throttle:
                    answer.throttle_ms = answer.int32()
                    self.throttle(answer.throttle_ms)
                return answer

    def ask(
        self, request: BrokerRequest, write: WriteRequest, seconds: float | None = None
    ) -> ResponseReader:
        """Send a request and wait for the answer."""
        return self.receive(self.send(request, write, seconds), seconds)

    def throttle(self, milliseconds: int) -> None:
        """Have the next request wait for a quota, as a broker says that reads none before (KIP-219)."""
        seconds = min(milliseconds / 1000, self._timeout)
        self._quiet_until = max(self._quiet_until, self._network.now() + seconds)

    def _await_quota(self) -> None:
        seconds = self._quiet_until - self._network.now()
        if seconds > 0:
            self._network.pause(seconds)
            self._throttled(seconds)

    def close(self) -> None:
        """Let go of the socket."""
        with suppress(OSError):
            self._socket.close()

    def _log_in(self, seconds: float | None) -> None:
        """Log in, for the first time or again, which brokers take in between two requests (KIP-368)."""
        if self._settings.login is None:
            return
        self._login_until = math.inf
        lifetime = self._settings.login.log_in(partial(self.ask, seconds=seconds), self.address)
        if lifetime is not None:
            self._login_until = self._network.now() + _LOGIN_SHARE * lifetime

    def _send(self, request: BrokerRequest, version: int, write: WriteRequest) -> int:
        flexible = version >= request.flexible_from
        body = RequestBody(version, flexible=flexible)
        write(body)
        self._sent += 1
        self._unanswered.append((request, version))
        client = self._client
        head = struct.pack(f">hhih{len(client)}s", request.key, version, self._sent, len(client), client)
        head += b"\0" * flexible  # no field with a tag; the client's name is as in the older encoding
        self._write([struct.pack(">i", len(head) + sum(map(len, body.parts))), head, *body.parts])
        return self._sent

    def _write(self, parts: Sequence[bytes | bytearray | memoryview]) -> None:
        try:
            self._socket.settimeout(self._timeout)
            small = bytearray()
            for part in parts:
                if len(part) < _SPARE:
                    small += part
                    continue
                self._socket.sendall(small)
                small.clear()
                self._socket.sendall(part)
            self._socket.sendall(small)
        except ssl.SSLError:
            raise
        except OSError as error:
            raise _failure(self.address, error) from None

    def _read(self, size: int, seconds: float | None) -> Octets:
        """So many bytes, with room behind them for a number to be looked for at their end."""
        limit = self._timeout if seconds is None else min(seconds, self._timeout)
        if len(self._room) < size + varints.PADDING:
            self._room = np.empty(size + size // 8 + varints.PADDING, np.uint8)
        view = self._room.data
        at, begun = 0, self._network.now()
        self._socket.settimeout(min(_LOOK_SECONDS, limit))
        while at < size:
            try:
                read = self._socket.recv_into(view[at:size])
            except TimeoutError as error:
                if self._network.now() - begun >= limit or error.errno:  # the system gave the connection up
                    raise _failure(self.address, error) from None
                if seconds is None:
                    self._silent(self)
                continue
            except ssl.SSLError:
                raise
            except OSError as error:
                raise _failure(self.address, error) from None
            if not read:
                raise ConnectionResetError(f"{self.address} closed the connection")
            at, begun = at + read, self._network.now()
        return self._room[: size + varints.PADDING]


def _connected(address: BrokerAddress, settings: ConnectionSettings) -> socket.socket:
    seconds = min(settings.connect_seconds, settings.timeout)
    tcp_socket = settings.network.connect(address.host, address.port, seconds, settings.family)
    try:
        for option, size in settings.buffer_sizes.items():
            tcp_socket.setsockopt(socket.SOL_SOCKET, option, size)
        tcp_socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _OPTIONS.items():
            if hasattr(socket, name):
                tcp_socket.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        tcp_socket.settimeout(settings.timeout)
        if settings.tls is None:
            return tcp_socket
        return settings.tls.wrap_socket(tcp_socket, server_hostname=address.host)
    except BaseException:
        tcp_socket.close()
        raise


def _failure(address: BrokerAddress, error: OSError) -> OSError:
    """The same, with the broker's name: what is waited for is said by it."""
    if isinstance(error, TimeoutError) and not error.errno:
        return TimeoutError(f"{address} does not answer")
    return type(error)(error.errno, f"{address}: {error.strerror or error}")
