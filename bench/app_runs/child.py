"""One run of an app in a process of its own: a line of JSON for the launch and for each batch."""

import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from bench.app_runs.measuring_observer import MeasuringObserver
from bench.app_runs.spent import cpu_seconds
from streamapp.spec.parser import parse
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.modes.app_run import run_app
from streamapp_runtime.driver.modes.standalone import RunOptions, Standalone
from streamapp_runtime.driver.modes.stop_signal import SignalStop
from streamapp_runtime.driver.start.app_storage import AppStorage, embedded_storage


class _OnLogs(Standalone):
    """A run whose systems are logs, of whatever kind they are."""

    def storage(self) -> AppStorage:
        return embedded_storage(self.options.data or Path(), self.app)


def main(app: str, data: str, logs: str, rows: int, processors: int, batches: int) -> None:
    """Run until the end of all streams, or for so many batches where that is not 0."""
    stop, seen = SignalStop(), 0

    def heard(batch: BatchResult) -> None:
        nonlocal seen
        seen += 1
        steps: Counter[str] = Counter()
        for report in batch.reports:
            steps.update(dict(report.steps))
        tell(batch.seconds, batch.rows_in, batch.rows_out, batch.restoring, steps)
        if seen == batches:
            stop.wanted = True

    found = parse(Path(app).read_text())
    options = RunOptions(processors, Path(data), until_end=True, rows=rows)
    observer = MeasuringObserver(lambda: tell(0.0, 0, 0, 0, {}), heard)
    mode = _OnLogs if logs == "logs" else Standalone
    run_app(mode(found.apps[0], options), stop, observer)


def tell(seconds: float, rows_in: int, rows_out: int, restoring: int, steps: Mapping[str, float]) -> None:
    """Say what there is to say at this moment."""
    at, cpu = time.monotonic(), cpu_seconds()
    print(json.dumps([at, cpu, seconds, rows_in, rows_out, restoring, steps]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
