"""A table of 500,000 keys written at random, with its changelog and without: rows per CPU second of all."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.app_runs import page_views
from bench.app_runs.apps import keeping
from bench.app_runs.runs import run_app
from bench.row import Aim, Compared, Row
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

VIEWS = 5_000_000
KEYS = 500_000
BATCH = 500_000
WARM = 4  # batches


def rows() -> Iterator[Row]:
    """Without, with, and what is left."""
    without = _rate(changelog=False)
    yield Row(f"{VIEWS:,} views, no changelog", without, "rows/CPU s")
    rate = _rate(changelog=True)
    compared = Compared("without", without)
    yield Row(f"{VIEWS:,} views, with changelog", rate, "rows/CPU s", compared=compared)
    yield Row("  of the throughput without", rate / without, "", Aim(least=0.9))


def _rate(*, changelog: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        log = EmbeddedSystem(data)
        page_views.to_log(log, "views", page_views.views(VIEWS, known=KEYS))
        log.close()
        return run_app(keeping(changelog), data, rows=BATCH).steady(WARM)
