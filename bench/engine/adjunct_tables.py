"""Tables that side inputs fill: the first filling, a restart with and without the store, one for two readers.

BENCH_TABLE_MB says how large the tables of the restarts and the readers are; 1000 makes it a gigabyte.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.app_runs import page_views
from bench.app_runs.apps import adjunct
from bench.app_runs.runs import Run, child, run_app
from bench.row import Aim, Compared, Row
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

USERS = 500_000
MEGABYTES = int(os.environ.get("BENCH_TABLE_MB", "100"))
PADDING = 1_000  # bytes of an entry, beside those that are always there
MORE = 1_000  # records that a restart finds
BATCH = 500_000


def rows() -> Iterator[Row]:
    """All of it."""
    with tempfile.TemporaryDirectory() as folder:
        run = _filled(Path(folder) / "data", USERS, 0)
        spent = run.cpu - run.moments[0].cpu
        yield Row(f"bootstrap, {USERS:,} records", USERS / spent, "rows/CPU s")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        _filled(data, MEGABYTES * 1_000_000 // PADDING, PADDING)
        kept = _again(data)
        shutil.rmtree(data / "state")
        lost = _again(data)
        yield Row(f"restart, {MEGABYTES:,} MB kept", kept, "CPU s")
        yield Row("  the same, lost and filled again", lost, "CPU s", compared=Compared("kept", kept))
    for kind in ("rocksdb", "lmdb"):
        yield from _shared(kind)


def _shared(kind: str) -> Iterator[Row]:
    """A broadcast table on one location, beside a copy for each of two readers."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        count = MEGABYTES * 1_000_000 // PADDING
        _filled(data, count, PADDING, broadcast=kind)
        (version,) = (data / "state").rglob("versions/*")
        disk = _bytes_on_disk(data / "state")
        one = _bytes_on_disk(version.parents[1] / "data")
        yield Row(f"{kind}: store and version on disk", disk / one, "copies", Aim(most=2.2))
        found = {how: _memory(kind, version, how, count) for how in ("shared", "copy")}
        beside = f"{found['shared'] / 1e6:,.0f} MB, {found['copy'] / 1e6:,.0f} MB with a copy in memory"
        yield Row(
            f"{kind}: memory of two readers", found["shared"] / found["copy"], "of copies", beside=beside
        )


def _memory(kind: str, version: Path, how: str, count: int) -> float:
    """What two processes have to themselves, that read all of the table."""
    spent = 0.0
    for _ in range(2):
        (line,) = child("bench.app_runs.table_reader", [kind, str(version), how])
        rows, private = map(int, line.strip("[]").split(","))
        if rows != count:
            raise AssertionError(f"{rows:,} of {count:,} rows were found")
        spent += private
    return spent


def _filled(data: Path, entries: int, padding: int, broadcast: str = "") -> Run:
    log = EmbeddedSystem(data)
    page_views.to_log(log, "users", page_views.users(entries, padding))
    page_views.to_log(log, "views", page_views.views(1))
    log.close()
    run = run_app(adjunct(broadcast), data, rows=BATCH)
    if run.rows_in != entries + 1:
        raise AssertionError(f"{run.rows_in:,} of {entries:,} were read")
    return run


def _again(data: Path) -> float:
    """What workers spend from the launch until new records of both streams have been read."""
    log = EmbeddedSystem(data)
    page_views.to_log(log, "users", page_views.users(MORE))
    page_views.to_log(log, "views", page_views.views(MORE))
    log.close()
    run = run_app(adjunct(), data, rows=BATCH)
    done = [batch for batch in run.batches if batch.rows_in][-1]
    return sum(spent for kind, spent in done.spent.items() if kind.startswith("worker"))


def _bytes_on_disk(folder: Path) -> int:
    """Files that are linked twice count once."""
    files = {file.stat().st_ino: file.stat().st_blocks for file in folder.rglob("*") if file.is_file()}
    return sum(files.values()) * 512
