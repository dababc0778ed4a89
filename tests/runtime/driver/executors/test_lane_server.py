"""Driver and lanes over real sockets: who hears what, and who is sent away."""

import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamapp_runtime.driver.executors.lane_server import LaneLeft, LaneReport, LaneServer
from streamapp_runtime.lanes.connection.driver_connection import DriverConnection, DriverLostError
from streamapp_runtime.lanes.connection.handshake import LaneHandshake, ProofError
from streamapp_runtime.lanes.connection.lane_address import LaneAddress, TcpPlace, UnixPlace
from streamapp_runtime.lanes.connection.messages import (
    MOST_BYTES_UNPROVEN,
    LaneMessageKind,
    Message,
    MessageBuffer,
    message,
)
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

pytestmark = pytest.mark.usefixtures("loopback")

SECONDS = 10


def opened(kind: str, request: pytest.FixtureRequest) -> LaneServer:
    """A server at a Unix socket, at a port, or at a port with encryption."""
    if kind == "unix":
        return LaneServer()
    certificate = request.getfixturevalue("lane_certificate") if kind == "tls" else None
    return LaneServer("127.0.0.1", "127.0.0.1", certificate=certificate)


@pytest.fixture(params=["unix", "tcp", "tls"])
def server(request: pytest.FixtureRequest) -> Iterator[LaneServer]:
    with closing(opened(request.param, request)) as one:
        yield one


@pytest.fixture(params=["unix", "tcp"])
def plain_server(request: pytest.FixtureRequest) -> Iterator[LaneServer]:
    """One to which a test speaks by a socket of its own."""
    with closing(opened(request.param, request)) as one:
        yield one


def received(connected: socket.socket) -> list[Message]:
    """What comes until the other side has nothing more to say."""
    buffer, messages = MessageBuffer(), list[Message]()
    with suppress(OSError):
        while arrived := connected.recv(1 << 16):
            buffer.feed(arrived)
            messages += buffer.messages()
    return messages


def sent_away(connected: socket.socket) -> bool:
    """Whether the other side ends the connection."""
    connected.settimeout(SECONDS)
    try:
        while connected.recv(1 << 16):
            pass
    except ConnectionError:
        return True
    return True


def served(server: LaneServer, address: LaneAddress) -> bool:
    """Whether a lane gets its order still."""
    with DriverConnection.open(address) as lane:
        server.offer(1, {0: b"order"})
        return lane.next_order(0, after=0) == b"order"


@pytest.mark.usefixtures("process")
def test_each_lane_gets_its_own_order_and_only_once(server: LaneServer) -> None:
    address = server.bind()
    with DriverConnection.open(address) as zero, DriverConnection.open(address) as one:
        server.offer(7, {0: b"of zero", 1: b"of one"})
        assert one.next_order(1, after=0) == b"of one"
        assert zero.next_order(0, after=0) == b"of zero"
        next_orders = list[bytes | None]()
        waiting = Thread(target=lambda: next_orders.append(zero.next_order(0, after=7)))
        waiting.start()
        server.offer(8, {0: b"the next"})
        waiting.join(SECONDS)
        assert next_orders == [b"the next"], "an order that was served is not given again"


def test_a_lane_that_waits_gets_its_order_when_it_is_there(server: LaneServer) -> None:
    address, orders = server.bind(), list[bytes | None]()
    with DriverConnection.open(address) as lane:
        waiting = Thread(target=lambda: orders.append(lane.next_order(3, after=4)))
        waiting.start()
        server.offer(5, {3: b"the fifth"})
        waiting.join(SECONDS)
    assert orders == [b"the fifth"]


def test_reports_say_whose_they_are_and_a_lane_that_leaves_is_noticed(server: LaneServer) -> None:
    address = server.bind()
    server.offer(1, {0: b"", 1: b""})
    with DriverConnection.open(address) as lane:
        lane.next_order(1, after=0)
        reports = tuple(TaskReport(task, TaskStatus.COMMITTED) for task in "ab")
        lane.report(1, 1, [report.fields() for report in reports])
        assert server.next_event() == LaneReport(1, 1, reports)
    assert server.next_event() == LaneLeft(1)


def test_large_orders_and_reports_arrive_whole(server: LaneServer) -> None:
    address, large = server.bind(), bytes(8 << 20)
    server.offer(1, {0: large})
    with DriverConnection.open(address) as lane:
        assert lane.next_order(0, after=0) == large
        lane.report(0, 1, [TaskReport("a", TaskStatus.BAD, message="x" * len(large)).fields()])
        event = server.next_event()
    assert isinstance(event, LaneReport)
    assert len(event.reports[0].message) == len(large)


def test_lanes_end_when_they_are_told(server: LaneServer) -> None:
    address, orders = server.bind(), list[bytes | None]()
    with DriverConnection.open(address) as lane:
        waiting = Thread(target=lambda: orders.append(lane.next_order(0, after=0)))
        waiting.start()
        server.end_lanes()
        waiting.join(SECONDS)
        assert orders == [None]
        assert lane.next_order(0, after=0) is None


def test_lanes_of_an_earlier_binding_hear_nothing_and_are_not_heard(server: LaneServer) -> None:
    former = server.bind()
    with DriverConnection.open(former) as zombie:
        server.offer(1, {0: b"first"})
        assert zombie.next_order(0, after=0) == b"first"
        address = server.bind()
        server.offer(2, {0: b"second"})
        zombie.report(0, 1, [TaskReport("late", TaskStatus.COMMITTED).fields()])
        assert zombie.next_order(0, after=1) is None
    with pytest.raises(DriverLostError):
        DriverConnection.open(former)
    with DriverConnection.open(address) as lane:
        assert lane.next_order(0, after=0) == b"second"
        timely = TaskReport("timely", TaskStatus.COMMITTED)
        lane.report(0, 2, [timely.fields()])
        assert server.next_event() == LaneReport(0, 2, (timely,))


def test_a_lane_of_an_earlier_binding_that_asks_does_not_keep_its_successor_from_its_order(
    server: LaneServer,
) -> None:
    former = server.bind()
    with DriverConnection.open(former) as zombie, DriverConnection.open(server.bind()) as lane:
        lane._send(message(LaneMessageKind.ASK, {"lane": 0, "after": 0}))
        assert zombie.next_order(0, after=1) is None
        server.offer(1, {0: b"first"})
        assert lane._order() == b"first"


def test_who_does_not_know_the_secret_is_sent_away(server: LaneServer) -> None:
    address = server.bind()
    with pytest.raises(DriverLostError):
        DriverConnection.open(replace(address, secret=b"another"))
    assert served(server, address)


def test_a_proof_that_was_listened_to_is_of_no_use(plain_server: LaneServer) -> None:
    address = plain_server.bind()
    with address.connect(SECONDS) as connected:
        buffer = MessageBuffer()
        buffer.feed(connected.recv(1 << 16))
        hello = LaneHandshake(address).hello(next(buffer.messages())).encoded()
    with address.connect(SECONDS) as connected:
        connected.sendall(hello)
        assert sent_away(connected)


def test_a_lane_does_not_serve_a_driver_without_the_secret() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = TcpPlace("127.0.0.1", listener.getsockname()[1])

        def pretend() -> None:
            connected, _ = listener.accept()
            with connected:
                connected.sendall(
                    message(LaneMessageKind.CHALLENGE, {"protocol": "lanes/1", "nonce": "00"}).encoded()
                )
                connected.recv(1 << 16)
                connected.sendall(message(LaneMessageKind.WELCOME, {"proof": "00"}).encoded())

        Thread(target=pretend, daemon=True).start()
        with pytest.raises(ProofError, match="does not know the secret"):
            DriverConnection.open(LaneAddress(place, "binding", b"secret"))


def test_a_stranger_cannot_have_much_kept_for_it(plain_server: LaneServer) -> None:
    address = plain_server.bind()
    with address.connect(SECONDS) as connected:
        connected.sendall(Message(LaneMessageKind.HELLO, bytes(MOST_BYTES_UNPROVEN + 1)).encoded())
        assert sent_away(connected)
    assert served(plain_server, address)


def test_who_says_nothing_is_sent_away() -> None:
    with closing(LaneServer(proof_seconds=0.1)) as server:
        address = server.bind()
        with address.connect(SECONDS) as connected:
            assert sent_away(connected)
        assert served(server, address)


def test_a_lane_that_does_not_read_keeps_no_other_waiting(server: LaneServer) -> None:
    address = server.bind()
    with DriverConnection.open(address) as stuck, DriverConnection.open(address) as lane:
        stuck._send(message(LaneMessageKind.ASK, {"lane": 0, "after": 0}))
        server.offer(1, {0: bytes(32 << 20), 1: b"order"})
        assert lane.next_order(1, after=0) == b"order"


def test_the_socket_on_one_machine_is_in_a_folder_of_this_user_alone() -> None:
    with closing(LaneServer()) as server:
        place = server.bind().place
        assert isinstance(place, UnixPlace)
        assert place.folder.stat().st_mode & 0o777 == 0o700
    assert not place.folder.exists()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=200),
        st.builds(
            lambda kind, payload: Message(kind, payload).encoded(),
            st.sampled_from(LaneMessageKind),
            st.one_of(
                st.binary(max_size=50),
                st.sampled_from([b"{}", b"[]", b"null", b'{"binding": 1}', b'{"lane": "x", "after": []}']),
            ),
        ),
    )
)
def test_whatever_a_stranger_sends_lanes_are_served(plain_server: LaneServer, sent: bytes) -> None:
    address = plain_server.bind()
    with address.connect(SECONDS) as connected, suppress(ConnectionError):
        connected.sendall(sent)
        connected.shutdown(socket.SHUT_WR)
        assert [one.kind for one in received(connected)] == [LaneMessageKind.CHALLENGE]
    assert served(plain_server, address)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(
        [LaneMessageKind.ASK, LaneMessageKind.REPORT, LaneMessageKind.HELLO, LaneMessageKind.ORDER]
    ),
    st.sampled_from([b"", b"{}", b"[1]", b'{"lane": "x"}', b'{"lane": 0, "batch": null, "reports": 3}']),
)
def test_a_lane_that_talks_nonsense_harms_itself_only(
    server: LaneServer, kind: LaneMessageKind, payload: bytes
) -> None:
    address = server.bind()
    with DriverConnection.open(address) as lane:
        lane._send(Message(kind, payload))
        with pytest.raises(DriverLostError):
            lane.next_order(0, after=0)
    assert served(server, address)


def test_a_lane_that_is_retired_gets_no_more_orders_and_the_others_do(server: LaneServer) -> None:
    address = server.bind()
    with DriverConnection.open(address) as lost, DriverConnection.open(address) as other:
        server.offer(1, {0: b"of zero", 1: b"of one"})
        assert lost.next_order(0, after=0) == b"of zero"
        server.retire(0)
        server.offer(2, {1: b"the next"})
        assert lost.next_order(0, after=1) is None
        assert other.next_order(1, after=1) == b"the next"


def test_events_are_waited_for_as_long_as_is_said(server: LaneServer) -> None:
    address = server.bind()
    assert server.next_event(0.01) is None
    server.offer(1, {0: b""})
    with DriverConnection.open(address) as lane:
        lane.next_order(0, after=0)
        lane.report(0, 1, [])
        assert server.next_event(SECONDS) == LaneReport(0, 1, ())
