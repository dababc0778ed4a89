"""On one machine too nobody else commands Spark: neither by its ports nor by what everybody can read."""

import os
import subprocess
import sys
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pyspark
import pytest

from streamapp_runtime.installed_java import find_java
from tests.harness.machine.listening_sockets import listening_sockets
from tests.harness.machine.processes import Child, until

DRIVER = """
import subprocess, sys, time
from pathlib import Path
from streamapp_runtime.driver.spark.spark_session import close_session, open_session
session = open_session("authentication", int(sys.argv[1]))
conf = session.getConf()
assert session.parallelize(range(100)).repartition(2).sum() == 4950
secret = conf.get("spark.authenticate.secret") or "-" * 99
commands = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True, check=True).stdout
print("secret in arguments:", secret in commands, "kill links:", conf.get("spark.ui.killEnabled"))
print("port", conf.get("spark.driver.port"), flush=True)
while not Path(sys.argv[2]).exists():
    time.sleep(0.2)
close_session(session)
"""

STRANGER = "org.apache.spark.executor.CoarseGrainedExecutorBackend"
JARS = Path(pyspark.__file__).parent / "jars"


def status_of_page(port: int) -> int | None:
    """With what a port answers a browser; None where it speaks no HTTP."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/", headers={"Host": f"127.0.0.1:{port}"})
        return connection.getresponse().status
    except (HTTPException, OSError):
        return None
    finally:
        connection.close()


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("processors", [pytest.param(1, marks=pytest.mark.nightly), 2])
def test_a_process_without_the_secret_is_refused(tmp_path: Path, processors: int) -> None:
    end = tmp_path / "end"
    command = [sys.executable, "-c", DRIVER, str(processors), end]
    with Child(command, tmp_path / "driver.log", os.environ) as driver:
        until(lambda: "\nport " in driver.said(), 240, driver)
        assert "secret in arguments: False kill links: false" in driver.said()
        sockets = listening_sockets(driver.pid)
        assert sockets
        assert [one for one in sockets if not one.is_loopback] == []
        statuses = [status_of_page(one.port) for one in sockets if one.kind.startswith("tcp")]
        assert {status for status in statuses if status} == ({403} if processors > 1 else set())
        port = driver.said().partition("\nport ")[2].split()[0]
        java = find_java()
        assert java is not None
        options = ["--driver-url", f"spark://CoarseGrainedScheduler@127.0.0.1:{port}"]
        options += ["--executor-id", "9", "--hostname", "127.0.0.1", "--cores", "1", "--app-id", "x"]
        done = subprocess.run(
            [java, "-Xmx512m", "-cp", f"{JARS}/*", STRANGER, *options, "--resourceProfileId", "0"],
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode != 0
        assert "maybe your client does not have SASL enabled" in done.stdout + done.stderr
        end.touch()
        assert driver.wait(60) == 0
