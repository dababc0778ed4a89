"""What a peer of the lanes' port sends ends its own connection at most, before its proof and after it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import fields
from socket import socket
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamapp_runtime.driver.executors.lane_server import (
    MOST_LANES,
    MOST_REFUSAL_LINES,
    MOST_UNPROVEN,
    LaneLeft,
    LaneReport,
    LaneServer,
    LaneServerEndedError,
)
from streamapp_runtime.lanes.connection.driver_connection import DriverConnection, DriverLostError
from streamapp_runtime.lanes.connection.handshake import DriverHandshake, LaneHandshake, ProofError
from streamapp_runtime.lanes.connection.lane_address import LaneAddress, UnixPlace
from streamapp_runtime.lanes.connection.messages import (
    MOST_DEPTH,
    LaneMessageKind,
    MalformedMessageError,
    Message,
    parsed_object,
)
from streamapp_runtime.lanes.protocol.task_report import MalformedReportError, TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from tests.harness.machine.processes import until

pytestmark = pytest.mark.usefixtures("process")
SECONDS = 10.0
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, 1, -1, 1 << 31, 1 << 63, 1 << 64, 10**300, float("inf"), float("nan")]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["0", "committed", "\ud800", "AA==", "a" * 5_000]),
)
JSON_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
DEEP = ['{"lane": ' + "[" * 1_005, "[" * 1_005, '{"a":' * 1_005, "[" * 40 + "]" * 40, '{"lane": Infinity}']
TASK = TaskReport("0", TaskStatus.COMMITTED).fields()


@pytest.fixture
def server() -> Iterator[LaneServer]:
    with closing(LaneServer()) as one:
        yield one


def serves(server: LaneServer, address: LaneAddress) -> bool:
    """Whether a lane gets its order still."""
    with DriverConnection.open(address) as lane:
        server.offer(1, {0: b"order"})
        return lane.next_order(0, after=0) == b"order"


def ends(connected: socket) -> bool:
    """Whether the other side ends the connection."""
    connected.settimeout(SECONDS)
    with suppress(ConnectionError):
        while connected.recv(1 << 16):
            pass
    return True


@pytest.mark.parametrize("payload", DEEP)
def test_a_hello_that_no_parser_bears_ends_its_own_connection(server: LaneServer, payload: str) -> None:
    address = server.bind()
    with address.connect(SECONDS) as stranger:
        stranger.sendall(Message(LaneMessageKind.HELLO, payload.encode()).encoded())
        assert ends(stranger)
    assert serves(server, address)


def test_refused_connections_write_a_few_lines_and_the_number_of_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with closing(LaneServer()) as server:
        address = server.bind()
        for _ in range(MOST_REFUSAL_LINES + 20):
            with address.connect(SECONDS) as stranger:
                stranger.sendall(Message(LaneMessageKind.HELLO, b"[]").encoded())
                assert ends(stranger)
    lines = [record.getMessage() for record in caplog.records]
    assert sum("was refused:" in line for line in lines) == MOST_REFUSAL_LINES
    assert "20 more connections to the port of the lanes were refused" in lines


@pytest.mark.parametrize("payload", [*DEEP, '{"lane": 1e999}', '{"lane": true, "after": 0}'])
@pytest.mark.parametrize("kind", [LaneMessageKind.ASK, LaneMessageKind.REPORT])
def test_a_proven_lane_that_sends_it_ends_its_own_connection(
    server: LaneServer, kind: LaneMessageKind, payload: str
) -> None:
    address = server.bind()
    with DriverConnection.open(address) as lane:
        lane._send(Message(kind, payload.encode()))
        with pytest.raises(DriverLostError):
            lane.next_order(0, after=0)
    assert serves(server, address)


def test_brackets_in_texts_count_for_nothing_and_those_outside_have_a_bound() -> None:
    quoted = {"message": '[{"\\' * 100, "reports": [{"steps": [["[[", 1]]}]}
    assert parsed_object(json.dumps(quoted).encode()) == quoted
    nested = "[" * (MOST_DEPTH - 1) + "]" * (MOST_DEPTH - 1)
    assert parsed_object(f'{{"a": {nested}}}'.encode())
    for deep in (f'{{"a": [{nested}]}}', f'{{"a": {nested[:-1]}}}', '{"a": "' + "[" * 100):
        with pytest.raises(MalformedMessageError):
            parsed_object(deep.encode())


@given(JSON_VALUES, st.sampled_from(["binding", "nonce", "proof", ""]))
def test_a_handshake_of_any_types_is_refused_by_its_own_errors(value: object, name: str) -> None:
    address = LaneAddress(UnixPlace(__file__), "binding", b"secret")
    driver = DriverHandshake(address)
    hello = LaneHandshake(address).hello(driver.challenge()).fields()
    sent = value if not name else hello | {name: value}
    with pytest.raises((ProofError, MalformedMessageError)):
        driver.welcome(Message(LaneMessageKind.HELLO, json.dumps(sent).encode()))


@given(st.dictionaries(st.sampled_from([one.name for one in fields(TaskReport)]), JSON_VALUES, max_size=3))
def test_a_report_of_any_types_is_refused_as_one_or_has_the_types_of_its_fields(
    sent: dict[str, object],
) -> None:
    try:
        report = TaskReport.of_fields(json.loads(json.dumps(TASK | sent)))
    except MalformedReportError:
        return
    assert TaskReport.of_fields(json.loads(json.dumps(report.fields()))) == report
    for name in ("rows_in", "rows_out", "bytes_in", "restored", "bad"):
        assert type(getattr(report, name)) is int
    assert all(isinstance(text, str) for text in (report.task, report.checkpoint, report.message))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(LaneMessageKind),
    st.one_of(
        JSON_VALUES,
        st.fixed_dictionaries(
            {}, optional=dict.fromkeys(["lane", "after", "batch", "reports"], JSON_VALUES | st.just([TASK]))
        ),
    ),
)
def test_whatever_a_proven_lane_says_others_are_served(
    server: LaneServer, kind: LaneMessageKind, sent: object
) -> None:
    address = server.bind()
    with DriverConnection.open(address) as lane:
        lane._send(Message(kind, json.dumps(sent).encode()))
        assert serves(server, address)


def test_a_lane_whose_report_is_none_has_left(server: LaneServer) -> None:
    address = server.bind()
    server.offer(1, {3: b"order"})
    with DriverConnection.open(address) as lane:
        lane.next_order(3, after=0)
        lane.report(3, 1, [TASK | {"rows_in": "many"}])
        assert server.next_event(SECONDS) == LaneLeft(3)


def test_a_lane_of_a_number_that_no_app_has_is_sent_away(server: LaneServer) -> None:
    with DriverConnection.open(server.bind()) as lane, pytest.raises(DriverLostError):
        lane.next_order(MOST_LANES, after=0)


def test_a_lane_that_asks_again_and_again_and_reads_nothing_is_not_listened_to(server: LaneServer) -> None:
    address, order = server.bind(), bytes(8 << 20)
    server.offer(1, {0: order})
    with DriverConnection.open(address) as lane:
        lane._socket.settimeout(0.2)
        ask = Message(LaneMessageKind.ASK, b'{"lane":0,"after":0}').encoded()
        with pytest.raises(TimeoutError):
            while True:
                lane._socket.sendall(ask * 1_000)
        assert sum(len(peer.unsent) for peer in server._peers) <= len(order) + 5


def test_lanes_come_first_where_strangers_never_prove_themselves() -> None:
    with closing(LaneServer(proof_seconds=3_600)) as server, ExitStack() as strangers:
        address = server.bind()
        for _ in range(2 * MOST_UNPROVEN):
            strangers.enter_context(address.connect(SECONDS))
        assert serves(server, address)
        until(lambda: sum(not peer.proven for peer in server._peers) <= MOST_UNPROVEN, limit=SECONDS)


def test_the_end_of_the_server_itself_is_an_error_for_who_waits_and_for_its_lanes(server: LaneServer) -> None:
    address, errors = server.bind(), list[Exception]()

    def wait() -> None:
        try:
            server.next_event()
        except LaneServerEndedError as error:
            errors.append(error)

    waiting = Thread(target=wait)
    waiting.start()
    with DriverConnection.open(address) as lane:
        server._selector.close()  # as a fault of the server would end its thread
        with pytest.raises(DriverLostError):
            lane.next_order(0, after=0)
    waiting.join(SECONDS)
    assert [str(error).partition(":")[0] for error in errors] == ["the server of the lanes has ended"]
    assert server.end_reason
    for use in (lambda: server.offer(1, {}), server.bind, server.next_event):
        with pytest.raises(LaneServerEndedError):
            use()


def test_reports_are_those_of_a_lanes_tasks(server: LaneServer) -> None:
    address = server.bind()
    server.offer(1, {0: b""})
    with DriverConnection.open(address) as lane:
        lane.next_order(0, after=0)
        lane.report(0, 1, [TASK])
        assert server.next_event(SECONDS) == LaneReport(0, 1, (TaskReport("0", TaskStatus.COMMITTED),))
