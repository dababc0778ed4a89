"""A small micro-batch of apps whose expressions Spark evaluates, and of totals: milliseconds of the clock.

One lane in the driver's own JVM. The median of the last of many batches, with their CPU. An app of plain
columns is what the others are compared with.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench.app_runs import page_views
from bench.app_runs.apps import over_views, summed
from bench.app_runs.runs import run_app
from bench.row import Row

APPS: Final = {
    "plain columns": over_views("user, page, ts"),
    "get_json_object": over_views("user, get_json_object(concat('{\"p\": \"', page, '\"}'), '$.p') AS p"),
    "date_format of a day's name": over_views("user, date_format(ts, 'EEEE') AS day"),
    "regexp_replace": over_views("user, regexp_replace(page, '[0-9]+', '#') AS p"),
    "DECIMAL division": over_views("user, CAST(length(page) AS DECIMAL(18, 2)) / 7 AS d"),
    "sum of DOUBLE": summed("DOUBLE"),
    "sum of DECIMAL(18, 2)": summed("DECIMAL(18, 2)"),
}
SIZES: Final = (1, 1_000, 10_000)
BATCHES: Final = 100
COUNTED: Final = 40


def rows() -> Iterator[Row]:
    """By expression and size."""
    for name, app in APPS.items():
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                data = Path(folder) / "data"
                page_views.to_join(data, BATCHES * size)
                run = run_app(app, data, rows=size, processors=1, batches=BATCHES)
            last = run.batches[-COUNTED:]
            cpu = (last[-1].cpu - last[0].cpu) / (len(last) - 1) * 1e3
            milliseconds = median(batch.seconds for batch in last) * 1e3
            yield Row(
                f"{name}, {size:,} row{'s' * (size > 1)}", milliseconds, "ms", None, f"{cpu:.0f} ms of CPU"
            )
