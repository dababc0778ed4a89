"""Runs of apps, each in a process of its own, and what was seen at their launch and after each batch."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Moment:
    """The launch, or the end of a batch."""

    at: float  # seconds of the machine's clock
    spent: Mapping[str, float]  # CPU seconds from the start, by kind of process
    seconds: float  # that the batch took
    rows_in: int
    rows_out: int
    restoring: int
    steps: Mapping[str, float]  # seconds by step, of all lanes

    @property
    def cpu(self) -> float:
        """CPU seconds of the whole process tree, from its start."""
        return sum(self.spent.values())


@dataclass(frozen=True, slots=True)
class Run:
    """A run: its launch, then its batches."""

    moments: tuple[Moment, ...]

    @property
    def batches(self) -> tuple[Moment, ...]:
        """Without the launch."""
        return self.moments[1:]

    @property
    def rows_in(self) -> int:
        """All rows read."""
        return sum(batch.rows_in for batch in self.batches)

    @property
    def rows_out(self) -> int:
        """All rows written."""
        return sum(batch.rows_out for batch in self.batches)

    @property
    def cpu(self) -> float:
        """CPU seconds of all of it, start-up included."""
        return self.moments[-1].cpu

    def steady(self, left_out: int) -> float:
        """Rows read for each CPU second after the first batches, in which the JVM compiles what it runs."""
        before, later = self.batches[left_out - 1], self.batches[left_out:]
        return sum(batch.rows_in for batch in later) / (later[-1].cpu - before.cpu)

    def clock(self, left_out: int) -> float:
        """Rows read for each second of the clock after the first batches."""
        before, later = self.batches[left_out - 1], self.batches[left_out:]
        return sum(batch.rows_in for batch in later) / (later[-1].at - before.at)

    def spent(self, left_out: int) -> Mapping[str, float]:
        """CPU seconds for each row after the first batches, by kind of process."""
        before, last = self.batches[left_out - 1], self.batches[-1]
        rows = sum(batch.rows_in for batch in self.batches[left_out:])
        return {kind: (spent - before.spent.get(kind, 0.0)) / rows for kind, spent in last.spent.items()}

    def steps(self, left_out: int) -> Mapping[str, float]:
        """Seconds for each row after the first batches, by step of the lanes."""
        later = self.batches[left_out:]
        rows = sum(batch.rows_in for batch in later)
        names = sorted({name for batch in later for name in batch.steps})
        return {name: sum(batch.steps.get(name, 0.0) for batch in later) / rows for name in names}


def run_app(
    app: str,
    data: Path,
    *,
    rows: int,
    processors: int = 1,
    batches: int = 0,
    environment: Mapping[str, str] | None = None,
    logs: bool = False,
) -> Run:
    """Run an app over what there is, or for so many batches; with `logs` all its systems are logs."""
    file = data.with_suffix(".yaml")
    file.write_text(app)
    of_systems = "logs" if logs else "systems"
    arguments = [str(file), str(data), of_systems, str(rows), str(processors), str(batches)]
    lines = child("bench.app_runs.child", arguments, environment)
    return Run(tuple(Moment(*json.loads(line)) for line in lines))


def child(module: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> list[str]:
    """The lines of JSON that a module prints when it runs by itself."""
    command = [sys.executable, "-m", module, *arguments]
    env = os.environ | dict(environment or {})
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, env=env)  # noqa: S603 - our own
    if ended.returncode:
        raise RuntimeError(f"{module} ended with {ended.returncode}:\n{ended.stderr[-4000:]}")
    return [line for line in ended.stdout.splitlines() if line.startswith(("[", "{"))]
