"""Page views joined with 100,000 users by key: rows per CPU second, beside Spark's own ways to do it.

StreamApp reads from and writes to an embedded log, one processor; Spark reads and writes files of JSON
lines, keeps its state in RocksDB and reads the users as a stream, so that they may change. Batches have
500,000 views for both. CPU seconds are those of the whole process tree, JVM and Python workers included; the
first batches, in which the JVM compiles what it runs, are left out of rates, and start-up is told apart.
"""

import json
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN
from bench.app_runs.profile import profile
from bench.app_runs.runs import Run, child, run_app
from bench.row import Aim, Compared, Row
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

VIEWS = 6_000_000
BATCH = 500_000
WARM = 4  # batches
FIRST = 100_000  # views of the first batch of Spark's own ways, which is left out
STOCK = {
    "with_state": ("transformWithStateInPandas", 1, 20.0),
    "stream_to_stream": ("stream-stream join", 2, 10.0),
}


def rows() -> Iterator[Row]:
    """The join, where its time goes, then the same by Spark."""
    with tempfile.TemporaryDirectory() as folder:
        run = _joined(Path(folder) / "data")
        rate = run.steady(WARM)
        yield Row(f"{VIEWS:,} views", rate, "rows/CPU s", Aim(least=500_000), _beside(run))
        yield from profile(run, WARM)
        for way, (name, batches, aim) in STOCK.items():
            if way == "with_state" and find_spec("google") is None:
                yield Row(f"{name}: left out, it needs protobuf", float("nan"), "")
                continue
            stock, beside = _stock(way, Path(folder) / way, batches)
            compared = Compared("StreamApp", rate)
            yield Row(f"{name}, {batches * BATCH:,} views", stock, "rows/CPU s", None, beside, compared)
            yield Row("  CPU seconds that it takes for each of ours", rate / stock, "x", Aim(least=aim))


def _joined(data: Path) -> Run:
    log = EmbeddedSystem(data)
    page_views.to_log(log, "users", page_views.users())
    page_views.to_log(log, "views", page_views.views(VIEWS))
    log.create("enriched", page_views.PARTITIONS)
    log.close()
    run = run_app(JOIN, data, rows=BATCH)
    page_views.check_real(run.rows_out, VIEWS)
    return run


def _beside(run: Run) -> str:
    started = run.moments[0].cpu
    whole = run.rows_in / (run.cpu - started)
    return f"{started:.0f} CPU s until launched; {whole:,.0f} with the first batches"


def _stock(way: str, folder: Path, batches: int) -> tuple[float, str]:
    """Rows for each CPU second after the first batch, and what start-up and that batch took."""
    sizes = [FIRST, *[BATCH] * batches]
    page_views.to_files(folder / "users", page_views.users(), [page_views.USERS])
    page_views.to_files(folder / "views", page_views.views(sum(sizes)), sizes)
    *told, last = (json.loads(line) for line in child("bench.app_runs.stock", [way, str(folder)]))
    page_views.check_real(last["rows_out"], sum(sizes))
    first = told[0][1]
    return batches * BATCH / (told[-1][1] - first), f"{first:.0f} CPU s with the first batch"
