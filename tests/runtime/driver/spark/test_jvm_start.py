"""A JVM whose start is interrupted, and one that is started before it is needed."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.machine.processes import children, java_children, until

PROGRAM = """
from streamapp_runtime.driver.spark.spark_session import open_session

open_session("interrupted", 1)
"""


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("started", [children, java_children])
def test_an_interrupt_while_the_jvm_starts_leaves_none(started: Callable[[int], list[int]]) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=subprocess.DEVNULL) as starting:
        until(lambda: started(starting.pid), 60)
        (jvm,) = started(starting.pid)
        starting.send_signal(signal.SIGINT)
        starting.wait(30)
    until(lambda: not Path(f"/proc/{jvm}").exists(), 10)


INTERRUPTED = """
from streamapp_runtime.driver.spark.jvm_process import JvmProcess
from streamapp_runtime.driver.spark.spark_session import open_session


def interrupted(started):
    print(started.process.pid, flush=True)
    raise KeyboardInterrupt  # as one that comes before the wait has begun


JvmProcess.address = interrupted
open_session("interrupted", 1)
"""


@pytest.mark.usefixtures("process")
def test_an_interrupt_before_the_jvm_is_waited_for_leaves_none() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[-1] == "KeyboardInterrupt"
    until(lambda: not Path(f"/proc/{int(ended.stdout)}").exists(), 10)


EARLY = """
import sys
from streamapp_runtime.driver.spark.jvm_process import JvmRequest, start_early
from streamapp_runtime.driver.spark.session_settings import local_shape
start_early(JvmRequest.of_session(local_shape(1)))
print("started", flush=True)
processors = int(sys.stdin.readline())
if processors:
    from streamapp_runtime.driver.spark.spark_session import close_session, open_session
    session = open_session("early", processors)
    assert session.parallelize([1, 2], 2).map(lambda number: 2 * number).sum() == 6
    print("used", flush=True)
    sys.stdin.readline()
    close_session(session)
"""


def started_early() -> tuple[subprocess.Popen[str], int]:
    """A process with a JVM that it has not called, and that JVM."""
    process = subprocess.Popen(
        [sys.executable, "-c", EARLY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    (jvm,) = children(process.pid)
    return process, jvm


def use(process: subprocess.Popen[str], processors: int) -> list[int]:
    """The JVMs that the process has once its session was used."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{processors}\n")
    process.stdin.flush()
    assert process.stdout.readline() == "used\n"
    return java_children(process.pid)


@pytest.mark.usefixtures("process")
def test_a_jvm_that_was_started_early_is_the_one_of_the_session() -> None:
    process, jvm = started_early()
    assert use(process, 1) == [jvm]
    process.communicate("", timeout=60)
    assert process.returncode == 0
    until(lambda: not Path(f"/proc/{jvm}").exists(), 10)


@pytest.mark.usefixtures("process")
def test_a_session_with_other_settings_has_a_jvm_of_its_own_and_the_early_one_ends() -> None:
    process, jvm = started_early()
    (other,) = use(process, 2)
    assert other != jvm
    assert not Path(f"/proc/{jvm}").exists()
    process.communicate("", timeout=60)
    assert process.returncode == 0


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("killed", [False, True])
def test_a_jvm_that_nobody_calls_ends_with_its_process(killed: bool) -> None:
    process, jvm = started_early()
    if killed:
        process.kill()
        process.communicate(timeout=60)
    else:
        process.communicate("0\n", timeout=60)
        assert process.returncode == 0
    until(lambda: not Path(f"/proc/{jvm}").exists(), 20)
