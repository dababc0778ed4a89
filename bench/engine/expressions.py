"""A small micro-batch of apps whose expressions Spark evaluates: milliseconds of the clock.

One lane in the driver's own JVM. The median of the last of many batches, with their CPU. An app of plain
columns is what the others are compared with.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench.app_runs import page_views
from bench.app_runs.apps import over_views
from bench.app_runs.runs import run_app
from bench.row import Row

SELECTS: Final = {
    "plain columns": "user, page, ts",
    "get_json_object": "user, get_json_object(concat('{\"p\": \"', page, '\"}'), '$.p') AS p",
    "date_format of a day's name": "user, date_format(ts, 'EEEE') AS day",
    "regexp_replace": "user, regexp_replace(page, '[0-9]+', '#') AS p",
    "DECIMAL division": "user, CAST(length(page) AS DECIMAL(18, 2)) / 7 AS d",
}
SIZES: Final = (1, 1_000, 10_000)
BATCHES: Final = 100
COUNTED: Final = 40


def rows() -> Iterator[Row]:
    """By expression and size."""
    for name, select in SELECTS.items():
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                data = Path(folder) / "data"
                page_views.to_join(data, BATCHES * size)
                run = run_app(over_views(select), data, rows=size, processors=1, batches=BATCHES)
            last = run.batches[-COUNTED:]
            cpu = (last[-1].cpu - last[0].cpu) / (len(last) - 1) * 1e3
            milliseconds = median(batch.seconds for batch in last) * 1e3
            yield Row(
                f"{name}, {size:,} row{'s' * (size > 1)}", milliseconds, "ms", None, f"{cpu:.0f} ms of CPU"
            )
