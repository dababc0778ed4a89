"""A driver under an operator that speaks through files, as a process: its argument is their folder."""

import json
import sys
import time
from pathlib import Path

from streamapp.protocol.accepted_app import decode_accepted
from streamapp_runtime.cli.run_process.run_attempt import RunParts
from streamapp_runtime.driver.modes.managed import Managed
from streamapp_runtime.driver.modes.pod_environment import PodEnvironment
from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
from streamapp_runtime.driver.reporting.progress_log import ProgressLog
from streamapp_runtime.driver.reporting.run_messages import RunMessage
from streamapp_runtime.driver.spark.jvm_process import start_early
from streamapp_runtime.transport.file_transport import FileTransport


def say(word: RunMessage) -> None:
    sys.stdout.write(json.dumps(word.facts) + "\n")


def main(folder: Path) -> int:
    environment = PodEnvironment(folder, folder / "data", "wanted", "report", pod="driver-1")
    accepted = decode_accepted(environment.app.read_text("utf-8"))
    start_early(environment.jvm(accepted.app))
    mode = Managed(accepted, environment, FileTransport(folder))
    ended = RunParts(ProgressLog(say, time.monotonic), DriverLiveness(time.monotonic)).run(mode)
    sys.stdout.write(ended.ending.text() + "\n")
    return int(ended.code)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
