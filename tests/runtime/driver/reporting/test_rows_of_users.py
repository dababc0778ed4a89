"""What a run says came in and went out is what its users sent and received."""

from pathlib import Path
from typing import Any

import pytest

from streamapp_runtime.driver.page.page_recorder import PageRecorder
from streamapp_runtime.driver.reporting.progress_log import ProgressLog
from streamapp_runtime.driver.reporting.run_messages import RunMessage
from tests.harness.runs.app_runs import app, write_all
from tests.harness.runs.in_process_run import InProcessRun
from tests.harness.runs.timed_streams import NOW, at, events, inputs, sent

SENT, RECEIVED = 10, 7
BY_PAGE: dict[str, Any] = {
    "name": "by-page",
    "partitionBy": {"from": "chosen", "key": "page", "partitions": 2},
}
CHOSEN: dict[str, Any] = {"name": "chosen", "filter": {"from": "events", "where": "user <> 'bob'"}}


@pytest.mark.parametrize("steps", [(CHOSEN, sent("chosen")), (CHOSEN, BY_PAGE, sent("by-page"))])
def test_rows_of_intermediate_streams_are_neither_in_nor_out(
    tmp_path: Path, steps: tuple[dict[str, Any], ...]
) -> None:
    run = InProcessRun(app(*steps, streams=[events(), {"name": "out", "key": "page"}], config=NOW), tmp_path)
    run.system.create("events", 1)
    run.start()
    write_all(run.system, "events", inputs([at(n, "ann" if n < RECEIVED else "bob") for n in range(SENT)]), 1)
    said: list[RunMessage] = []
    progress, page = ProgressLog(said.append, run.now), PageRecorder(run.now, run.now)
    for observer in (progress, page):
        observer.launched(run.loop.launch)
    run.seconds += 1
    while (batch := run.loop.step()) is not None:
        progress.batch_committed(batch)
        page.batch_committed(batch)
    progress.ended()
    run.end()
    run.system.close()
    assert said[-1].text.startswith(f"{SENT} rows in, {RECEIVED} out, ")
    assert (said[-1].facts["rowsIn"], said[-1].facts["rowsOut"]) == (SENT, RECEIVED)
