"""A small micro-batch from its orders to its reports: milliseconds of the clock, of one row and of 1,000.

One lane runs in the driver's own JVM, several in executors of their own. The median of the last batches: the
clock sees whatever else the machine does, so an idle machine is what this is for.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.engine import page_views
from bench.engine.apps import JOIN
from bench.engine.runs import Run, run_app
from bench.row import Aim, Row
from streamapp_runtime.systems.embedded.log import EmbeddedSystem

LANES = (1, 2, 4)
SIZES = (1, 1_000)
BATCHES = 80
COUNTED = 40


def rows() -> Iterator[Row]:
    """By lanes and size."""
    for lanes in LANES:
        for size in SIZES:
            milliseconds, cpu = _batch(lanes, size)
            name = f"{lanes} lane{'s' * (lanes > 1)}, {size:,} row{'s' * (size > 1)} in all"
            yield Row(name, milliseconds, "ms", Aim(most=100), f"{cpu:.0f} ms of CPU")


def _batch(lanes: int, size: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        log = EmbeddedSystem(data)
        page_views.to_log(log, "users", page_views.users(1))
        page_views.to_log(log, "views", page_views.views(BATCHES * size))
        log.create("enriched", page_views.PARTITIONS)
        log.close()
        run = run_app(JOIN, data, rows=size, processors=lanes, batches=BATCHES)
        return settled(run)


def settled(run: Run) -> tuple[float, float]:
    """Milliseconds of the clock and of CPU of one of the last batches."""
    last = run.batches[-COUNTED:]
    return median(batch.seconds for batch in last) * 1e3, (last[-1].cpu - last[0].cpu) / COUNTED * 1e3
