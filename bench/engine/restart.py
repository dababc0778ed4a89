"""A restart with state: on the same host by how much there is, and with it lost, from its changelog.

The first is from the launch's end until 1,000 new records are in the state, by the clock and in CPU seconds;
the second the CPU seconds of the workers until then, less those of a restart that finds its state. (The JVM
has no part in it, and what its start costs varies by more than that.)

BENCH_STATE_MB=10,1000,5000 tries five gigabytes too; they need three times that on the disk.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.app_runs import page_views
from bench.app_runs.apps import FILLED
from bench.app_runs.runs import run_app
from bench.row import Aim, Compared, Row
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

PADDING = 1_000  # bytes of an entry, beside those that are always there
SIZES = tuple(map(int, os.environ.get("BENCH_STATE_MB", "10,1000").split(",")))
LOST = 2_000_000  # small entries
BATCH = 500_000
MORE = 1_000  # records that a restart finds


@dataclass(frozen=True, slots=True)
class Restart:
    """From the launch's end until all that is new has been read."""

    seconds: float
    cpu: float
    workers: float  # of these in Python workers


def rows() -> Iterator[Row]:
    """With little and much state, then without."""
    least: Restart | None = None
    for entries in (megabytes * 10**6 // PADDING for megabytes in SIZES):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            _fill(data, entries, PADDING)
            found = _restarted(data)
            least = least or found
            beside = f"{found.cpu:.2f} CPU s, {found.cpu / least.cpu:.2f} of the first"
            compared = Compared("the first", least.seconds)
            aim = Aim(most=1.5 * least.seconds)
            yield Row(
                f"{entries * PADDING // 10**6:,} MB of state, kept", found.seconds, "s", aim, beside, compared
            )
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        _fill(data, LOST, 0)
        kept = _restarted(data)
        held = _bytes_on_disk(data / "state")
        shutil.rmtree(data / "state")
        spent = _restarted(data).workers - kept.workers
        if _bytes_on_disk(data / "state") < held / 2:
            raise AssertionError("not all of the state has come back")
        yield Row(f"{LOST:,} entries restored", LOST / spent, "rows/CPU s", Aim(least=500_000))


def _fill(data: Path, entries: int, padding: int) -> None:
    log = EmbeddedSystem(data)
    page_views.to_log(log, "users", page_views.users(entries, padding))
    log.close()
    run = run_app(FILLED, data, rows=BATCH)
    if run.rows_in != entries:
        raise AssertionError(f"{run.rows_in:,} of {entries:,} were read")


def _restarted(data: Path) -> Restart:
    log = EmbeddedSystem(data)
    page_views.to_log(log, "users", page_views.users(MORE))
    log.close()
    run = run_app(FILLED, data, rows=BATCH)
    done = [batch for batch in run.batches if batch.rows_in][-1]
    if run.rows_in != MORE:
        raise AssertionError(f"{run.rows_in:,} of {MORE:,} new records were read")
    launch = run.moments[0]
    workers = sum(spent for kind, spent in done.spent.items() if kind.startswith("worker"))
    return Restart(done.at - launch.at, done.cpu - launch.cpu, workers)


def _bytes_on_disk(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*"))
