"""The driver's end of the connections to its lanes: one thread owns all sockets, and never blocks.

The thread of the batches hands it orders and takes reports from a queue. A lane asks for its order and gets
it once it is there; nobody else gets it. Who does not prove itself in time is sent away, and whoever belongs
to an earlier binding is told that there are no more orders. What a peer sends ends its own connection at
most; where the thread itself ends, all who use the server hear of it.
"""

import logging
import secrets
import selectors
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from streamapp.connection_bounds import ConnectionBounds
from streamapp_runtime.driver.executors.lane_certificate import LaneCertificate
from streamapp_runtime.lanes.connection.channel import Channel, PlainChannel, TlsChannel
from streamapp_runtime.lanes.connection.handshake import (
    DriverHandshake,
    FormerBindingError,
    ProofError,
)
from streamapp_runtime.lanes.connection.lane_address import LaneAddress, TcpPlace, UnixPlace, notice_silence
from streamapp_runtime.lanes.connection.messages import (
    MOST_BYTES,
    LaneMessageKind,
    MalformedMessageError,
    Message,
    MessageBuffer,
)
from streamapp_runtime.lanes.protocol.sent_values import of_type, sent_list, sent_object
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.log_lines.line_bounds import LineBounds

PROOF_SECONDS: Final = 5.0
"""How long a connection may take to prove itself."""
MOST_UNPROVEN: Final = 256
"""So many connections may be unproven at a time."""
MOST_UNPROVEN_OF_ADDRESS: Final = 64
"""So many of them from one address: more than an executor has slots, and all its lanes may come at once."""
MOST_LANES: Final = 1 << 20
"""The numbers of lanes are below this."""
MOST_REFUSAL_LINES: Final = 10
REFUSAL_SECONDS: Final = 60.0
"""So many lines tell of refused connections in this time; the others are counted."""
_TICK_SECONDS: Final = 1.0
_BACKLOG: Final = 1_024
_READ_BYTES: Final = 1 << 18
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LaneReport:
    """The reports of a lane on an order."""

    lane: int
    batch: int
    reports: tuple[TaskReport, ...]  # one of each task


@dataclass(frozen=True, slots=True)
class LaneLeft:
    """The connection of a lane has ended."""

    lane: int


LaneEvent = LaneReport | LaneLeft


class LaneServerEndedError(OSError):
    """The server serves no lane any more; the message says why."""


@dataclass(slots=True, eq=False)
class _Peer:
    """One connection."""

    connected: socket.socket
    channel: Channel
    handshake: DriverHandshake
    proven: bool = False
    lanes: set[int] = field(default_factory=set)  # that it has asked for
    received: MessageBuffer = field(default_factory=MessageBuffer)
    unsent: bytearray = field(default_factory=bytearray)


@dataclass(frozen=True, slots=True)
class _Ask:
    """A lane's pending request for the order behind a batch."""

    peer: _Peer
    after: int


class LaneServer:
    """Serves the lanes of one driver, from one binding to the next."""

    def __init__(
        self,
        host: str = "",
        bind: str = "",
        port: int = 0,
        *,
        certificate: LaneCertificate | None = None,
        proof_seconds: float = PROOF_SECONDS,
    ) -> None:
        """Listen at a TCP port, encrypted where there is a certificate; at a Unix socket without a host."""
        self.end_reason = ""  # why no lane is served any more
        self._tls = certificate.context if certificate else None
        if host:
            self._listener = socket.create_server((bind, port), backlog=_BACKLOG)
            place: UnixPlace | TcpPlace = TcpPlace(host, self._listener.getsockname()[1])
        else:
            place = UnixPlace(Path(tempfile.mkdtemp(prefix="streamapp-lanes-")))  # nobody else may enter it
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._listener.bind(place.path)
            self._listener.listen(_BACKLOG)
        self._listener.setblocking(False)
        pinned = certificate.certificate if certificate else ""
        self._address = LaneAddress(place, secrets.token_hex(8), secrets.token_bytes(32), pinned)
        self._orders: dict[int, tuple[int, bytes]] = {}  # by lane: the batch, and its order
        self._asks: dict[int, _Ask] = {}  # by lane
        self._retired: set[int] = set()  # lanes of this binding that are lost
        self._ended = False  # whether lanes of this binding get no more orders
        self._peers: set[_Peer] = set()
        self._unproven = ConnectionBounds[_Peer](MOST_UNPROVEN, MOST_UNPROVEN_OF_ADDRESS, proof_seconds)
        self._refusal_lines = LineBounds(MOST_REFUSAL_LINES, REFUSAL_SECONDS)
        self._events: SimpleQueue[LaneEvent | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._waker, self._woken = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="lane-server", daemon=True)
        self._thread.start()

    def bind(self) -> LaneAddress:
        """Begin another binding: its lanes come by the address, and those of earlier ones are sent away."""
        self._check()
        with self._lock:
            self._end_lanes()
            self._ended = False
            self._retired.clear()
            self._address = replace(self._address, binding=secrets.token_hex(8))
            self._events = SimpleQueue()
            return self._address

    def offer(self, batch: int, orders: Mapping[int, bytes]) -> None:
        """Give each of these lanes its order of a batch, now or as soon as it asks."""
        self._check()
        with self._lock:
            self._orders |= {lane: (batch, order) for lane, order in orders.items()}
            for lane in orders:
                if ask := self._asks.get(lane):
                    self._answer(lane, ask)

    def retire(self, lane: int) -> None:
        """Give a lane that is lost no more orders; if it asks after all, it is told that there are none."""
        with self._lock:
            self._retired.add(lane)
            self._orders.pop(lane, None)
            if ask := self._asks.get(lane):
                self._answer(lane, ask)

    def next_event(self, seconds: float | None = None) -> LaneEvent | None:
        """The next report of a lane of this binding, or that it left; waited for, or for so many seconds.

        None where nothing came, and after `interrupt`; LaneServerEndedError where nothing can come any more.
        """
        self._check()
        try:
            event = self._events.get(timeout=seconds)
        except Empty:
            event = None
        self._check()
        return event

    def interrupt(self) -> None:
        """Have `next_event` give None."""
        self._events.put(None)

    def end_lanes(self) -> None:
        """Tell all lanes that there are no more orders."""
        with self._lock:
            self._end_lanes()

    def close(self) -> None:
        """End all connections."""
        self._closing.set()
        self._waker.send(b"\0")
        self._thread.join()
        self._count_refusals(inf)
        self._close_sockets()
        for one in (self._waker, self._woken):
            one.close()
        self._selector.close()
        if isinstance(self._address.place, UnixPlace):
            shutil.rmtree(self._address.place.folder, ignore_errors=True)

    def _end_lanes(self) -> None:
        self._ended = True
        self._orders.clear()
        for lane, ask in list(self._asks.items()):
            self._answer(lane, ask)

    def _check(self) -> None:
        """LaneServerEndedError where no lane is served any more."""
        if self.end_reason:
            raise LaneServerEndedError(self.end_reason)

    def _serve(self) -> None:
        """Serve until the server is closed. A fault of its own ends all connections: lanes hear of it."""
        try:
            while not self._closing.is_set():
                for key, mask in self._selector.select(_TICK_SECONDS):
                    with self._lock:
                        self._handle(key.data, mask)
                with self._lock:
                    for peer in self._unproven.overdue(time.monotonic()):
                        self._drop(peer)
                self._count_refusals(time.monotonic())
        except Exception as error:
            _LOG.exception("the server of the lanes has ended")
            with self._lock:  # who sees the reason finds no lane left that could be answered
                self._close_sockets()
                self.end_reason = f"the server of the lanes has ended: {error!r}"
            self.interrupt()

    def _count_refusals(self, now: float) -> None:
        """Say how many refused connections had no line, once their interval is over."""
        if number := self._refusal_lines.left_out(now):
            _LOG.warning("%d more connections to the port of the lanes were refused", number)

    def _close_sockets(self) -> None:
        for one in (self._listener, *(peer.connected for peer in self._peers)):
            one.close()
        self._peers.clear()
        self._asks.clear()

    def _handle(self, peer: _Peer | None, mask: int) -> None:
        """See to a socket that is ready; the listener and the waker have no peer."""
        if peer is None:
            self._accept()
            return
        if peer not in self._peers:  # it was ended since the selector named it
            return
        try:
            if mask & selectors.EVENT_WRITE:
                self._flush(peer)
                self._hear(peer)
            if mask & selectors.EVENT_READ:
                self._read(peer)
        except (ProofError, MalformedMessageError) as error:
            if self._refusal_lines.admits(time.monotonic()):
                _LOG.warning("a connection to the port of the lanes was refused: %s", error)
            self._drop(peer)
        except OSError:
            self._drop(peer)
        except Exception:  # whatever it is, it is of this peer alone
            if self._refusal_lines.admits(time.monotonic()):
                _LOG.exception("a connection to the port of the lanes was ended by what its peer sent")
            self._drop(peer)

    def _accept(self) -> None:
        try:
            connected, address = self._listener.accept()
        except OSError:  # who came has left again
            return
        try:
            connected.setblocking(False)
            if connected.family != socket.AF_UNIX:
                notice_silence(connected)
        except OSError:
            connected.close()
            return
        channel = TlsChannel(self._tls, server_side=True) if self._tls else PlainChannel()
        peer = _Peer(connected, channel, DriverHandshake(self._address))
        self._peers.add(peer)
        self._selector.register(connected, selectors.EVENT_READ, peer)
        host = address[0] if isinstance(address, tuple) else ""  # whoever reaches a Unix socket is this user
        if excess := self._unproven.add(peer, host, time.monotonic()):
            self._drop(excess)
        self._send(peer, peer.handshake.challenge())

    def _read(self, peer: _Peer) -> None:
        arrived = peer.connected.recv(_READ_BYTES)
        if not arrived:
            self._drop(peer)
            return
        peer.received.feed(peer.channel.receive(arrived))
        self._flush(peer)
        self._hear(peer)

    def _hear(self, peer: _Peer) -> None:
        """Hear what a peer has said, for as long as it takes the answers and is not sent away."""
        messages = peer.received.messages()
        while not peer.unsent and peer in self._peers and (received := next(messages, None)):
            if peer.proven:
                self._take(peer, received)
            else:
                self._prove(peer, received)

    def _prove(self, peer: _Peer, hello: Message) -> None:
        peer.handshake = replace(peer.handshake, address=self._address)
        try:
            self._send(peer, peer.handshake.welcome(hello))
        except FormerBindingError:
            self._drop(peer)
            return
        peer.proven = True
        self._unproven.forget(peer)
        peer.received.most_bytes = MOST_BYTES

    def _take(self, peer: _Peer, received: Message) -> None:
        """Take what a proven lane says."""
        fields = received.fields()
        try:
            lane = of_type(fields["lane"], int)
            match received.kind:
                case _ if not 0 <= lane < MOST_LANES:
                    raise MalformedMessageError(f"no app has a lane {lane}")
                case LaneMessageKind.ASK:
                    peer.lanes.add(lane)
                    self._answer(lane, _Ask(peer, of_type(fields["after"], int)))
                case LaneMessageKind.REPORT:
                    sent = map(sent_object, sent_list(fields["reports"]))
                    reports = tuple(TaskReport.of_fields(report) for report in sent)
                    if self._is_current(peer):
                        self._events.put(LaneReport(lane, of_type(fields["batch"], int), reports))
                case other:
                    raise MalformedMessageError(f"{other.name} came from a lane")
        except (KeyError, TypeError, ValueError) as error:
            raise MalformedMessageError(f"{received.kind.name} is malformed: {error!r}") from error

    def _answer(self, lane: int, ask: _Ask) -> None:
        """Give a lane its next order, or its end, if either is there; else it waits."""
        if not self._is_current(ask.peer):  # whose successor may wait under the same number
            self._send(ask.peer, Message(LaneMessageKind.END))
            return
        self._asks.pop(lane, None)
        batch, order = self._orders.get(lane, (ask.after, b""))
        if self._ended or lane in self._retired:
            self._send(ask.peer, Message(LaneMessageKind.END))
        elif batch > ask.after:
            self._send(ask.peer, Message(LaneMessageKind.ORDER, order))
        else:
            self._asks[lane] = ask

    def _is_current(self, peer: _Peer) -> bool:
        return peer.handshake.address.binding == self._address.binding

    def _send(self, peer: _Peer, sent: Message) -> None:
        peer.channel.send(sent.encoded())
        try:
            self._flush(peer)
        except OSError:
            self._drop(peer)

    def _flush(self, peer: _Peer) -> None:
        """Send what the kernel takes; what is left is sent when it takes more."""
        peer.unsent += peer.channel.outgoing()
        while peer.unsent:
            try:
                count = peer.connected.send(peer.unsent)
            except BlockingIOError:
                break
            del peer.unsent[:count]
        events = selectors.EVENT_WRITE if peer.unsent else selectors.EVENT_READ
        if self._selector.get_key(peer.connected).events != events:
            self._selector.modify(peer.connected, events, peer)

    def _drop(self, peer: _Peer) -> None:
        """End a connection, once."""
        if peer not in self._peers:
            return
        self._peers.remove(peer)
        self._unproven.forget(peer)
        with suppress(KeyError):  # a selector that is closed knows nobody, and the peer is to hear of the end
            self._selector.unregister(peer.connected)
        peer.connected.close()
        self._asks = {lane: ask for lane, ask in self._asks.items() if ask.peer is not peer}
        if self._is_current(peer):
            for lane in sorted(peer.lanes):
                self._events.put(LaneLeft(lane))
