"""An app on two executors whose lanes wait for each other or not, as edits of it say.

Its argument is a folder. It prints a line of JSON for each edit: whether lanes wait for nobody, how many
records were read and how many are there, the counts that scans of the state said meanwhile, every other time
of snapshots in pages, and the counts after each batch.
"""

import json
import sys
from pathlib import Path

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.executors.session_lanes import close_lanes
from streamapp_runtime.driver.modes.live_edit import apply_edit
from streamapp_runtime.driver.spark.spark_session import close_session, open_session
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.asked_state import counts_while_at_work
from tests.harness.runs.drained_loop import drain
from tests.harness.runs.run_systems import embedded

PROCESSORS = 2
ROWS = 1_500
WAYS = (False, True, False, True)
PAGE = 3


def counting(*, independent: bool) -> StreamApp:
    return app(
        {"name": "counted", "aggregate": {"from": "events", "aggregates": "count(*) AS rows"}},
        {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
        streams=[{"name": "events", "key": "user", "columns": "user STRING"}, {"name": "out", "key": "user"}],
        processors=PROCESSORS,
        batch={"independentLanes": independent, "rows": 23, "latency": "0s"},
    )


def write(env: AppEnv) -> None:
    env.write("events", inputs([{"user": f"u{number % 13}"} for number in range(ROWS)], "user"))


def run(env: AppEnv) -> None:
    write(env)
    _, launch = env.launched(counting(independent=False), PROCESSORS)
    loop = Loop(env.session, CurrentRun.of(launch, batch_rows=ROWS), pause=lambda _: None)
    loop.start()
    drain(loop)
    for times, independent in enumerate(WAYS, 2):
        apply_edit(loop, counting(independent=independent))
        write(env)
        counts, batches = counts_while_at_work(loop, "counted", PAGE if times > PROCESSORS + 1 else 0)
        step = {
            "independent": loop.lanes.supervisor.independent_exchange is not None,
            "read": sum(batch.rows_in for batch in batches),
            "there": times * ROWS,
            "counts": counts,
            "batches": [batch.rows_in for batch in batches],
        }
        sys.stdout.write(json.dumps(step) + "\n")
    loop.release()


def main(folder: Path) -> None:
    session = open_session("paced", PROCESSORS)
    session.environment["PYTHONPATH"] = str(Path(__file__).parents[3])
    try:
        with embedded(session, folder) as env:
            run(env)
    finally:
        close_lanes()
        close_session(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
