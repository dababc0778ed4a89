"""Where the time of each row goes: by step of the lanes, and by the process that spends the CPU."""

from collections.abc import Iterator

from bench.app_runs.runs import Run
from bench.row import Row


def profile(run: Run, left_out: int) -> Iterator[Row]:
    """Microseconds for each row after the first batches; Spark's own part is what no step counts."""
    for name, seconds in sorted(run.spent(left_out).items()):
        yield Row(f"  of it in {name}", seconds * 1e6, "us/row")
    for name, seconds in run.steps(left_out).items():
        yield Row(f"  of a lane's time in {name}", seconds * 1e6, "us/row")
