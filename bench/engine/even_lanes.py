"""What lanes that do not wait for each other cost where all of them have the same work.

Rows a second and rows for each CPU second after the first batches, beside those of lanes that run each
batch together (`batch.independentLanes: false`). Batches are small, so that mostly their cost is measured.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN, with_lanes
from bench.app_runs.runs import Run, run_app
from bench.row import Aim, Compared, Row

LANES = (2, 4)
SIZE = 1_000
BATCHES = 400
LEFT_OUT = 100
"""Batches, in which Java compiles what it runs."""


def rows() -> Iterator[Row]:
    """By lanes."""
    for lanes in LANES:
        together, alone = _run(lanes, independent=False), _run(lanes, independent=True)
        yield from _compared(lanes, "rows/s", together.clock(LEFT_OUT), alone.clock(LEFT_OUT))
        yield from _compared(lanes, "rows/CPU s", together.steady(LEFT_OUT), alone.steady(LEFT_OUT))


def _compared(lanes: int, unit: str, together: float, alone: float) -> Iterator[Row]:
    yield Row(f"{lanes} lanes, together", together, unit)
    compared = Compared("together", together)
    yield Row(f"{lanes} lanes, independent", alone, unit, compared=compared)
    yield Row("  of together", alone / together, "x", Aim(least=0.8))


def _run(lanes: int, *, independent: bool) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        page_views.to_join(data, BATCHES * SIZE)
        return run_app(with_lanes(JOIN, independent=independent), data, rows=SIZE, processors=lanes)
