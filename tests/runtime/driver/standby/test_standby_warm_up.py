"""A driver that stands by compiles its app and restores stores of its executors. It takes nothing over."""

from pathlib import Path

import pytest

from tests.harness.machine.script_facts import facts_of

DRIVER = """
import os
import shutil
import signal
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.wanted_state import WantedState
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.executors.executor_locations import no_locations
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.standby import standby_warm_up
from streamapp_runtime.driver.standby.standby_warm_up import StandbyWarmUp
from streamapp_runtime.driver.modes.wanted_model import launch_wanted
from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
from streamapp_runtime.driver.executors.session_lanes import session_lanes
from streamapp_runtime.driver.spark.spark_session import close_session, open_session
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.systems.stream_system import FencedError, UnavailableError
from streamapp_runtime.transport.file_transport import FileTransport, write_wanted
from tests.harness.machine.app_processes import of_executor, standing_still, victims
from tests.harness.machine.processes import until
from tests.harness.runs.app_runs import Input, app, environment_at, in_order, inputs, last_by_key
from tests.harness.runs.chained_app import EVENTS, USERS, numbered
from tests.harness.runs.drained_loop import drain


class AwayTwice(CheckpointStream):
    # The checkpoint stream of a system that does not answer at first.

    asked = 0

    def look(self):
        self.asked += 1
        if self.asked < 3:
            raise UnavailableError("no broker answers")
        super().look()


folder = Path(sys.argv[1])
wrong_app = app(
    {"name": "wrong", "filter": {"from": "events", "where": "no_such_column > 1"}},
    {"name": "sent", "sendTo": {"from": "wrong", "stream": "out"}},
    streams=[EVENTS, {"name": "out", "key": "user"}],
)
app = app(
    {"name": "total", "aggregate": {"from": "events", "aggregates": "sum(n) AS total"}},
    {"name": "told", "sendTo": {"from": "total", "stream": "totals"}},
    {"name": "met", "joinTable": {"from": "events", "table": "names", "select": "user, n, name"}},
    {"name": "sent", "sendTo": {"from": "met", "stream": "out"}},
    streams=[
        EVENTS,
        {"name": "people", "key": "user", "columns": "user STRING, name STRING"},
        {"name": "out", "key": "user"},
        {"name": "totals", "key": "user"},
    ],
    tables=[{"name": "names", "store": "lmdb", "sideInputs": [{"stream": "people", "bootstrap": True}]}],
    onBadRecord={"action": "skip"},
    rebalanceDelay="1s",
)


def everything_once(env, numbers):
    rows = [row | {"name": row["user"].upper()} for row in numbered(0, numbers)]
    totals = {key: value["total"] for key, value in last_by_key(env.records("totals")).items()}
    return in_order(env.rows("out")) == in_order(rows) and totals == {
        f"u{user}": sum(range(numbers)) for user in range(USERS)
    }


def people_read(batches):
    return sum(count for batch in batches for stream, count in batch.read.items() if "people" in stream)


def taken_over(numbers):
    # The launch and the loop of a driver that takes over without a program, and has these numbers to read.
    ledger = CheckpointStream(env.system, working_ledger.stream)
    ledger.open("another")
    launch = launch_wanted(replace(taking_over, ledger=ledger), session, wanted, wanted.model)
    env.write("events", inputs(numbers, "user"), 4)
    loop = Loop(session, CurrentRun.of(launch, batch_rows=40))
    loop.start()
    return launch, loop


def exact_soon(loop, numbers):
    deadline = time.monotonic() + 60
    while not everything_once(env, numbers) and time.monotonic() < deadline:
        loop.step()
        time.sleep(0.05)
    return everything_once(env, numbers)


session = open_session("standby", 2)
with environment_at(session, embedded_storage(folder / "data")) as env:
    people = [{"user": f"u{user}", "name": f"U{user}"} for user in range(USERS)]
    env.write("people", [*inputs(people, "user"), Input("u1", "not JSON")], 4)
    env.write("events", inputs(numbered(0, 4), "user"), 4)
    working_ledger, launch = env.launched(app, 2)
    working = Loop(session, CurrentRun.of(launch, batch_rows=40))
    working.start()
    drain(working)
    layout = launch.assignment.layout
    layout = replace(layout, run=working_ledger.run_id)
    write_wanted(folder, WantedState(AcceptedApp(app).hash, 2, launch.model, layout))

    # The executors of a driver of its own have volumes of their own.
    context = launch.context
    storage = replace(context.storage, state=folder / "standby")
    standby_ledger = CheckpointStream(env.system, working_ledger.stream)
    transport = FileTransport(folder)
    take_over = Event()
    pool = ExecutorPool("standby", session, lambda _: None, 2, storage.systems)
    warm_up = StandbyWarmUp(
        replace(context, storage=storage, ledger=standby_ledger), pool, no_locations, transport,
        DriverLiveness(time.monotonic), take_over.is_set,
    )
    warm_up.compile()
    print("it has compiled:", warm_up.program.program == launch.program)
    try:
        replace(warm_up, context=replace(warm_up.context, app=wrong_app)).compile()
    except AppRefusedError as refusal:
        print("an app that has no program is refused:", "no_such_column" in str(refusal))
    away = AwayTwice(env.system, working_ledger.stream)
    waiting = replace(warm_up, context=replace(warm_up.context, ledger=away), program=None)
    waiting.compile()
    print("a system that does not answer is waited for:", away.asked == 3 and waiting.program is not None)
    working.release()  # its lanes have the one slot of each executor
    warm_up.start_executors()
    print("they have said who they are:", len(set(session_lanes(session).identities.values())) == 2)
    print("there are executors:", pool.present == 2)
    warm_up.restore()
    print("it is silent:", standby_ledger.incarnation == 0)
    working_ledger.check()  # raises where another driver has taken over
    print("nobody took over:", True)

    standby_ledger = CheckpointStream(env.system, working_ledger.stream)
    standby_ledger.open("another")
    wanted = transport.wanted()
    taking_over = replace(context, storage=storage, ledger=standby_ledger)
    following = launch_wanted(taking_over, session, wanted, wanted.model, warm_up.program)
    print("its program serves:", following.program is warm_up.program.program)
    env.write("events", inputs(numbered(4, 6), "user"), 4)
    loop = Loop(session, CurrentRun.of(following, batch_rows=40))
    loop.start()
    batches = drain(loop)
    print("lanes were bound by that:", not session_lanes(session).identities)
    print("nothing is left to restore:", sum(batch.restored for batch in batches) == 0)
    print("nothing is left to fill:", people_read(batches) == 0)
    print("rows are exact:", everything_once(env, 6))
    loop.release()

    # A pod that lost its volume, and a driver that has not stood by.
    shutil.rmtree(folder / "standby")
    cold, loop = taken_over(numbered(6, 7))
    batches = drain(loop)
    print("else all is restored:", sum(batch.restored for batch in batches) >= USERS)
    print("and filled:", people_read(batches) >= USERS)
    print("rows are exact again:", everything_once(env, 7))
    loop.release()
    print("another program is as good:", cold.program is not warm_up.program.program)

    # One executor is lost before it takes over, and Spark brings no other.
    warm_up.start_executors()
    pool.request(1)
    os.kill(victims(folder)["executor"][0], signal.SIGKILL)
    until(lambda: pool.present <= 1, 60)
    print("one is left:", pool.present == 1)
    _, loop = taken_over(numbered(7, 8))
    began = time.monotonic()
    while loop.step() is None:
        time.sleep(0.01)
    print("it is not waited for:", time.monotonic() - began < 15)
    print("rows are exact with one:", exact_soon(loop, 8))
    loop.release()

    # One that does not answer.
    pool.request(2)
    until(lambda: pool.present == 2, 60)
    warm_up.start_executors()
    workers = victims(folder)["worker"]
    with standing_still(workers):
        standby_warm_up.PATIENCE_SECONDS = 1.0
        began = time.monotonic()
        warm_up.restore()
        seconds = time.monotonic() - began
        print("a worker that is stopped holds up nothing:", bool(workers) and 1.0 < seconds < 10.0)
        standby_warm_up.PATIENCE_SECONDS = 30.0
        began = time.monotonic()
        Timer(0.2, take_over.set).start()
        warm_up.restore()
        print("nor does it when the driver takes over:", time.monotonic() - began < 10.0)
        take_over.clear()

    # All processes of one are stopped while the driver stands by: its node is gone, and says nothing.
    until(lambda: pool.present == 2, 60)
    warm_up.start_executors()
    probe = session_lanes(session).probe
    with ExitStack() as stopped:
        with warm_up.watching_executors():
            stopped.enter_context(standing_still(of_executor(folder)))
            until(probe.silent_executors, 60)
            print("one is silent:", len(probe.silent_executors()) == 1 and pool.present == 2)
            began = time.monotonic()
            warm_up.restore()
            print("the other one is refreshed alone:", time.monotonic() - began < 10.0)
        _, loop = taken_over(numbered(8, 9))
        began = time.monotonic()
        while (batch := loop.step()) is None or not batch.rows_out:
            time.sleep(0.01)
        print("rows come of the other one:", time.monotonic() - began < 9.0)
        print("rows are exact without it:", exact_soon(loop, 9))
    loop.release()
close_session(session)
"""


@pytest.mark.usefixtures("process")
def test_a_driver_that_stands_by_has_its_stores_and_its_program_when_it_takes_over(tmp_path: Path) -> None:
    assert facts_of(DRIVER, tmp_path) == [
        *("it has compiled: True", "an app that has no program is refused: True"),
        *(
            "a system that does not answer is waited for: True",
            "they have said who they are: True",
            "there are executors: True",
        ),
        *("it is silent: True", "nobody took over: True", "its program serves: True"),
        *("lanes were bound by that: True", "nothing is left to restore: True"),
        *("nothing is left to fill: True", "rows are exact: True", "else all is restored: True"),
        *("and filled: True", "rows are exact again: True", "another program is as good: True"),
        *("one is left: True", "it is not waited for: True", "rows are exact with one: True"),
        *("a worker that is stopped holds up nothing: True", "nor does it when the driver takes over: True"),
        *("one is silent: True", "the other one is refreshed alone: True"),
        *("rows come of the other one: True", "rows are exact without it: True"),
    ]
