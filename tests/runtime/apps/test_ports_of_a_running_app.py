"""The port of a running app's lanes: strangers end nothing there, and the end of its server ends the app."""

from contextlib import suppress

import pytest

from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.executors.session_lanes import close_lanes, session_lanes
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.lanes.connection.messages import LaneMessageKind, Message
from tests.harness.machine.processes import until
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.drained_loop import drain
from tests.harness.runs.run_systems import ON_SPARK

SECONDS = 10.0
STREAMS = [{"name": "views", "key": "user", "columns": "user STRING, n INT"}, {"name": "out", "key": "user"}]
COUNTED = {"name": "counted", "aggregate": {"from": "views", "aggregates": "count(*) AS rows"}}
SENT = {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}}


@ON_SPARK
def test_an_app_outlives_strangers_and_ends_with_the_server_of_its_lanes(env: AppEnv) -> None:
    env.write("views", inputs([{"user": "ann", "n": 1}], "user"))
    _, ready = env.launched(app(COUNTED, SENT, streams=STREAMS))
    loop = Loop(env.session, CurrentRun.of(ready), pause=lambda _: None)
    loop.start()
    drain(loop)
    server = session_lanes(env.session).server
    with server._address.connect(SECONDS) as stranger, suppress(ConnectionError):
        stranger.sendall(Message(LaneMessageKind.HELLO, b"[" * 1_005).encoded())
        while stranger.recv(1 << 16):
            pass
    env.write("views", inputs([{"user": "ann", "n": 2}], "user"))
    drain(loop)
    assert [row["rows"] for row in env.rows("out")] == [1, 2]

    try:
        server._selector.close()  # as a fault of its own would end its thread
        until(lambda: server.end_reason, limit=SECONDS)
        env.write("views", inputs([{"user": "ann", "n": 3}], "user"))
        with pytest.raises(FailedError, match="the server of the lanes has ended"):
            drain(loop)
    finally:
        close_lanes()
