"""A small micro-batch from its orders to its reports: milliseconds of the clock, of one row and of 1,000.

One lane runs in the driver's own JVM, several in executors of their own. The median of the last batches of
many, and of some soon after the start, when Java has compiled little of Spark yet. The clock sees whatever
else the machine does, so an idle machine is what this is for.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN, with_lanes
from bench.app_runs.runs import Moment, Run, run_app
from bench.row import Aim, Compared, Row

LANES = (1, 2, 4)
SIZES = (1, 1_000)
BATCHES = 400
COUNTED = 40
YOUNG = slice(40, 80)


def rows() -> Iterator[Row]:
    """By lanes and size."""
    for lanes in LANES:
        for size in SIZES:
            yield row(_run(lanes, size), lanes, size, most=25)


def _run(lanes: int, size: int) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        page_views.to_join(data, BATCHES * size)
        app = with_lanes(JOIN, independent=False)  # a batch is one of all lanes
        return run_app(app, data, rows=size, processors=lanes, batches=BATCHES)


def row(
    run: Run,
    lanes: int,
    size: int,
    *,
    way: str = "",
    most: float | None = None,
    compared: Compared | None = None,
) -> Row:
    """Milliseconds of the clock for one of the last batches, with its CPU and with what one took at first."""
    last = run.batches[-COUNTED:]
    cpu = (last[-1].cpu - last[0].cpu) / (len(last) - 1) * 1e3
    return Row(
        f"{lanes} lane{'s' * (lanes > 1)}, {size:,} row{'s' * (size > 1)} in all{way}",
        _milliseconds(last),
        "ms",
        Aim(most=most) if most else None,
        f"{cpu:.0f} ms of CPU; soon after the start {_milliseconds(run.batches[YOUNG]):.0f} ms",
        compared=compared,
    )


def _milliseconds(batches: Sequence[Moment]) -> float:
    return median(batch.seconds for batch in batches) * 1e3
