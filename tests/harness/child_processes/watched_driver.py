"""A run whose steps may take little time, as a process.

Its arguments: the file of the app, the folder of its data, and the seconds that a step may take. It prints
where it is asked whether it makes progress.
"""

import sys
import time
from pathlib import Path

from streamapp.cli.app_sources import parse_source
from streamapp.protocol.message_names import LIVENESS_PATH
from streamapp_runtime.cli.run_process.message_output import write_json
from streamapp_runtime.cli.run_process.run_attempt import RunParts
from streamapp_runtime.driver.modes.standalone import RunOptions, Standalone
from streamapp_runtime.driver.reporting.driver_liveness import DriverLiveness
from streamapp_runtime.driver.reporting.metrics_server import EVERYWHERE, metrics_server, serve_metrics
from streamapp_runtime.driver.reporting.progress_log import ProgressLog


def main(file: str, data: Path, step_seconds: float) -> int:
    (app,) = parse_source(file).apps
    mode = Standalone(app, RunOptions(1, data))
    progress = ProgressLog(lambda message: write_json(sys.stdout, message), time.monotonic)
    parts = RunParts(progress, DriverLiveness(time.monotonic, step_seconds))
    server = metrics_server(parts.metrics.registry, 0, EVERYWHERE, parts.liveness.answer)
    with serve_metrics(server):
        sys.stdout.write(f"http://127.0.0.1:{server.server_port}{LIVENESS_PATH}\n")
        sys.stdout.flush()
        return int(parts.run(mode).code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])))
