"""Lanes of an encrypted run: what a wire carries, and who is sent away for the want of a key."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark import SparkContext

from streamapp_runtime.driver.executors.lane_certificate import LaneCertificate, make_certificate
from streamapp_runtime.driver.executors.lane_server import LaneReport, LaneServer
from streamapp_runtime.lanes.connection.channel import TlsChannel, client_channel
from streamapp_runtime.lanes.connection.driver_connection import DriverConnection, DriverLostError
from streamapp_runtime.lanes.connection.handshake import ProofError
from streamapp_runtime.lanes.connection.lane_address import LaneAddress, TcpPlace
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

SECONDS = 10
ORDER = b"an order that nobody else may read"
REPORT = "a report that nobody else may read"


@pytest.fixture
def server(lane_certificate: LaneCertificate) -> Iterator[LaneServer]:
    with closing(LaneServer("127.0.0.1", "127.0.0.1", certificate=lane_certificate)) as opened:
        yield opened


class Wire:
    """A relay between a lane and its driver that remembers what passed."""

    def __init__(self, server: LaneAddress) -> None:
        assert isinstance(server.place, TcpPlace)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._target = (server.place.host, server.place.port)
        self.passed = bytearray()
        Thread(target=self._relay, daemon=True).start()

    @property
    def place(self) -> TcpPlace:
        return TcpPlace("127.0.0.1", self._listener.getsockname()[1])

    def close(self) -> None:
        self._listener.close()

    def _relay(self) -> None:
        with suppress(OSError), ExitStack() as sockets:
            lane, _ = self._listener.accept()
            driver = socket.create_connection(self._target)
            sockets.enter_context(lane)
            sockets.enter_context(driver)
            back = Thread(target=self._pump, args=(driver, lane), daemon=True)
            back.start()
            self._pump(lane, driver)
            back.join(SECONDS)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while arrived := source.recv(1 << 16):
                self.passed += arrived
                target.sendall(arrived)
            target.shutdown(socket.SHUT_WR)


def exchanged(address: LaneAddress, server: LaneServer) -> bytes:
    """What a wire carries of one order and one report."""
    with closing(Wire(address)) as wire:
        with DriverConnection.open(replace(address, place=wire.place)) as lane:
            server.offer(1, {0: ORDER})
            assert lane.next_order(0, after=0) == ORDER
            report = TaskReport("0", TaskStatus.BAD, message=REPORT)
            lane.report(0, 1, [report.fields()])
            assert server.next_event() == LaneReport(0, 1, (report,))
        return bytes(wire.passed)


def test_a_wire_carries_neither_orders_nor_reports_as_they_are(server: LaneServer) -> None:
    passed = exchanged(server.bind(), server)
    assert ORDER not in passed
    assert REPORT.encode() not in passed
    assert b"nonce" not in passed, "the proofs of the secret are encrypted as well"


def test_without_a_certificate_the_same_wire_carries_them(lane_certificate: LaneCertificate) -> None:
    with closing(LaneServer("127.0.0.1", "127.0.0.1")) as server:
        passed = exchanged(server.bind(), server)
    assert ORDER in passed
    assert REPORT.encode() in passed


def test_a_lane_serves_no_driver_with_another_certificate(server: LaneServer, session: SparkContext) -> None:
    """It is as good as the driver's own, and was made for another run."""
    address = server.bind()
    other = make_certificate(session)
    assert other.certificate != address.certificate
    with pytest.raises(ProofError, match="CERTIFICATE_VERIFY_FAILED"):
        DriverConnection.open(replace(address, certificate=other.certificate))


def test_a_lane_that_does_not_encrypt_is_sent_away(
    server: LaneServer, caplog: pytest.LogCaptureFixture
) -> None:
    address = server.bind()
    with address.connect(SECONDS) as connected:
        connected.sendall(b"GET / HTTP/1.1\r\n\r\n")
        connected.settimeout(SECONDS)
        with suppress(ConnectionError):
            while connected.recv(1 << 16):
                pass
    assert "a peer without the encryption of this run" in caplog.text
    with DriverConnection.open(address) as lane:
        server.offer(1, {0: ORDER})
        assert lane.next_order(0, after=0) == ORDER


def test_the_secret_of_the_run_is_needed_beside_the_certificate(server: LaneServer) -> None:
    """Who has read the certificate off the wire is no lane for that."""
    with pytest.raises(DriverLostError):
        DriverConnection.open(replace(server.bind(), secret=b"another"))


def test_what_is_changed_on_the_way_is_refused(lane_certificate: LaneCertificate) -> None:
    driver = TlsChannel(lane_certificate.context, server_side=True)
    lane = client_channel(lane_certificate.certificate)
    shake_hands(driver, lane)
    driver.send(ORDER)
    damaged = bytearray(driver.outgoing())
    damaged[-1] ^= 1
    with pytest.raises(ProofError):
        lane.receive(bytes(damaged))


def shake_hands(driver: TlsChannel, lane: object) -> None:
    assert isinstance(lane, TlsChannel)
    for _ in range(3):
        driver.receive(lane.outgoing())
        lane.receive(driver.outgoing())


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.booleans(), st.binary(max_size=40_000)), max_size=6),
    st.lists(st.integers(1, 20_000), min_size=1, max_size=5),
)
def test_bytes_arrive_in_order_however_a_network_cuts_them(
    lane_certificate: LaneCertificate, sent: list[tuple[bool, bytes]], sizes: list[int]
) -> None:
    """Also those that were sent before the handshake was over."""
    driver = TlsChannel(lane_certificate.context, server_side=True)
    lane = client_channel(lane_certificate.certificate)
    read = {True: bytearray(), False: bytearray()}  # by whether the driver sent it
    for by_driver, data in sent:
        (driver if by_driver else lane).send(data)
    wires, turn = {True: bytearray(), False: bytearray()}, 0
    while True:
        wires[True] += driver.outgoing()
        wires[False] += lane.outgoing()
        if not wires[True] and not wires[False]:
            break
        for by_driver, reader in ((True, lane), (False, driver)):
            size = sizes[turn % len(sizes)]
            turn += 1
            part = bytes(wires[by_driver][:size])
            del wires[by_driver][:size]
            read[by_driver] += reader.receive(part)
    for by_driver in (True, False):
        assert read[by_driver] == b"".join(data for by, data in sent if by == by_driver)
