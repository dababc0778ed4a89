"""The pictures of the page of a running app, for the documentation: an example with figures made up here.

`python -m tests.harness.repository.app_page_picture` takes them.
"""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path

from playwright.sync_api import Page, expect

from streamapp.graph.graph_builder import build_graph
from streamapp.spec.parser import parse
from streamapp.spec.serialization import as_yaml
from streamapp.tasks.layouts.split import Split
from streamapp_runtime.driver.page.run_history import MOST_POINTS
from streamapp_runtime.driver.page.running_app import OnDemand
from tests.harness.engine.batch_results import batch
from tests.harness.engine.watched_pages import WatchedRun, page_served, reports, running
from tests.harness.repository.page_pictures import take_pictures

REPOSITORY = Path(__file__).parents[3]
EXAMPLE = REPOSITORY / "examples" / "country-views" / "app.yaml"
STATE = {"users": (48_210, 6_400_000), "counted": (241, 90_112)}


def _run() -> WatchedRun:
    """A quarter of an hour of batches, with a growth in the middle of it."""
    (app,) = parse(EXAMPLE.read_text("utf-8")).apps
    graph = build_graph(app, {"views": 8, "users": 8, "totals": 4})
    shown = running(graph, tasks=8, processors=2, sizes=STATE)
    growth = Split("views", 4, 8, 0.0, offsets=(0, 0, 0, 0))
    run = WatchedRun()
    growth = replace(growth, seen_at=run.clock.seconds + 400)
    on_demand = OnDemand(resource=partial(as_yaml, app))
    run.recorder.runs(replace(shown, name=app.application_id, splits=(growth,), on_demand=on_demand))
    inner = [stream for stream in shown.plan.streams if stream.startswith("shop.")]
    for number in range(1, MOST_POINTS):
        rows = int(9_000 + 2_500 * math.sin(number / 30) + 700 * math.sin(number * 2.3))
        lag = 60_000 - 1_500 * (number - 200) if 200 <= number < 240 else 40 + number % 7
        counted = [("rowsOut", stream, rows * 9 // 10) for stream in (*inner, "totals")]
        counted.append(("latencyMs", "views", int(620 + 130 * math.sin(number * 1.7)) + lag // 20))
        shares = [replace(one, rows_in=2 * rows // 8 + 9 * place) for place, one in enumerate(reports(shown))]
        first, *others = shares
        memory = ("memoryBytes", "", int(410e6 + 45e6 * math.sin(number / 60)))
        others = [replace(one, counted=(memory,)) for one in others]
        steps = (("settle", 0.004), ("read", 0.041), ("joined", 0.12), ("counted", 0.16), ("commit", 0.082))
        at = int((run.clock.seconds - 1.5) * 1000)
        one = replace(
            batch(
                number,
                seconds=0.38 + 0.08 * math.sin(number * 1.7),
                rows_in=2 * rows,
                rows_out=rows,
                given={"views": rows, "users": 12, **dict.fromkeys(inner, rows * 9 // 10)},
                lags={"views": lag, inner[0]: 11},
                watermarks=dict.fromkeys(["views", *inner], at),
                bad=int(number % 90 == 0),
            ),
            task_lags={f"Partition {task}": lag // 8 for task in range(8)},
            rejected={("views", "no JSON"): 1} if number % 90 == 0 else {},
            reports=(replace(first, counted=(*counted, memory), steps=steps), *others),
        )
        run.batches(one, count=1)
        if number == 200:
            run.recorder.batch_failed("unavailable: broker-1 does not answer")
    run.recorder.step_started("looks for records", 0)
    return run


def take() -> None:
    """One picture in light and one in dark."""

    def prepare(page: Page) -> None:
        expect(page.locator(".plan .flow", has_text="/s").first).to_be_visible()
        page.locator("#resource summary").click()
        expect(page.locator("#resource pre")).to_contain_text("joinTable")

    with page_served(_run().recorder) as url:
        take_pictures(url, "app-page", height=900, prepare=prepare)


if __name__ == "__main__":
    take()
