"""Why Spark did not start is said in Spark's words; settings that it refuses end the app for good."""

import subprocess
import sys
import textwrap

import pytest

SCRIPT = textwrap.dedent(
    """
    import sys
    from streamapp_runtime.driver.spark.jvm import SparkStartError
    from streamapp_runtime.driver.spark.spark_session import open_configured_session

    try:
        open_configured_session("start", dict(setting.split("=", 1) for setting in sys.argv[1:]))
    except SparkStartError as error:
        print("for good" if error.final else "for now", error, sep="|")
    """
)


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("settings", "how_long", "words"),
    [
        (
            ["spark.executor.heartbeatInterval=soon"],
            "for good",
            ["'soon'", "spark.executor.heartbeatInterval"],
        ),
        (["spark.network.timeout=1s"], "for good", ["spark.network.timeout=1000ms must be greater"]),
        (["spark.plugins=nowhere.Plugin"], "for now", ["ClassNotFoundException: nowhere.Plugin"]),
        (
            ["spark.master=k8s://https://127.0.0.1:1", "spark.kubernetes.driver.pod.name=app-driver-1"],
            "for now",
            ["with name: [app-driver-1]", "Connection refused: /127.0.0.1:1"],
        ),
    ],
    ids=["text for a duration", "time-out below an interval", "unknown plugin", "no API server"],
)
def test_spark_that_does_not_start_says_why(settings: list[str], how_long: str, words: list[str]) -> None:
    command = [sys.executable, "-c", SCRIPT, *settings]
    last_line = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    told, _, reason = last_line.partition("|")
    assert told == how_long
    assert reason.startswith("Spark did not start: ")
    assert all(part in reason for part in words), reason
