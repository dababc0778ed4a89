"""Page views into tables of Delta and Iceberg: rows per CPU second, beside Spark's own file sink.

StreamApp reads an embedded log and delivers into a table in a folder, exactly once, at most 50,000 rows a
commit; Spark reads files of JSON lines and writes Parquet, with 500,000 views a micro-batch. CPU seconds are
those of the whole process tree. Of StreamApp the rate is what the views of a long run take more than those of
a short one; of Spark the first micro-batch is left out.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import deltalake
from pyiceberg.catalog.sql import SqlCatalog

from bench.app_runs import page_views
from bench.app_runs.runs import REPOSITORY, child
from bench.app_runs.spent import cpu_seconds
from bench.row import Aim, Compared, Row
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

SHORT, LONG = 500_000, 3_000_000
FIRST, BATCH, BATCHES = 100_000, 500_000, 3
_APP: Final = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {{name: measured, namespace: bench}}
spec:
  systems:
    - {{name: main, embedded: {{path: data}}}}
    - {{name: tables, {system}}}
  streams:
    - {{name: views, system: main, key: user, columns: "user STRING, page STRING, ts TIMESTAMP"}}
    - {{name: kept, system: tables, columns: "user STRING, page STRING, ts TIMESTAMP"}}
  operators:
    - {{name: real, filter: {{from: views, where: "page NOT LIKE '/health%'"}}}}
    - {{name: out, sendTo: {{from: real, stream: kept}}}}
"""
_CATALOG: Final = "{{type: sql, uri: 'sqlite:///{folder}/catalog.db', warehouse: '{folder}/lake'}}"
_SYSTEMS: Final = {
    "Delta": "delta: {{path: lake, createIfMissing: true}}",
    "Iceberg": f"iceberg: {{{{namespace: shop, config: {_CATALOG}, createIfMissing: true}}}}",
}


def _delta_rows(folder: Path) -> int:
    return int(deltalake.DeltaTable(str(folder / "lake" / "kept")).to_pyarrow_dataset().count_rows())


def _iceberg_rows(folder: Path) -> int:
    properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": str(folder / "lake")}
    with closing(SqlCatalog("default", **properties)) as catalog:
        return len(catalog.load_table("shop.kept").scan().to_arrow())


_ROWS: Final[Mapping[str, Callable[[Path], int]]] = {"Delta": _delta_rows, "Iceberg": _iceberg_rows}


def rows() -> Iterator[Row]:
    """Spark's sink, then each table."""
    with tempfile.TemporaryDirectory() as folder:
        theirs = _spark(Path(folder) / "spark")
        yield Row(f"Spark, Parquet, {BATCHES * BATCH:,} views", theirs, "rows/CPU s")
        for name, system in _SYSTEMS.items():
            short = _ours(Path(folder) / f"{name}-short", name, system, SHORT)
            long = _ours(Path(folder) / f"{name}-long", name, system, LONG)
            rate = (LONG - SHORT) / (long - short)
            beside = f"{short:.0f} CPU s for the first {SHORT:,}, start-up included"
            compared = Compared("Spark, Parquet", theirs)
            yield Row(f"{name}, {LONG - SHORT:,} views", rate, "rows/CPU s", None, beside, compared)
            yield Row("  CPU seconds that Spark takes for each of ours", rate / theirs, "x", Aim(least=5.0))


def _ours(folder: Path, name: str, system: str, views: int) -> float:
    """CPU seconds of a run from its start to its end, when all rows are in the table."""
    folder.mkdir()
    with closing(EmbeddedSystem(folder / "data")) as log:
        page_views.to_log(log, "views", page_views.views(views))
    (folder / "app.yaml").write_text(_APP.format(system=system.format(folder=folder)))
    command = [sys.executable, "-m", "streamapp", "run", "app.yaml", "--until-end", "--processors", "1"]
    path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "runtime"), os.environ.get("PYTHONPATH", "")])
    environment, spent = os.environ | {"PYTHONPATH": path}, 0.0
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, env=environment) as process:  # noqa: S603
        while process.poll() is None:
            spent = max(spent, sum(cpu_seconds(process.pid).values()))
            time.sleep(0.1)
    if process.returncode:
        raise RuntimeError(f"the run ended with {process.returncode}")
    page_views.check_real(_ROWS[name](folder), views)
    return spent


def _spark(folder: Path) -> float:
    sizes = [FIRST, *[BATCH] * BATCHES]
    page_views.to_files(folder / "views", page_views.views(sum(sizes)), sizes)
    *told, last = (json.loads(line) for line in child("bench.app_runs.stock_tables", [str(folder)]))
    page_views.check_real(last["rows_out"], sum(sizes))
    return float(BATCHES * BATCH / (told[-1][1] - told[0][1]))
