"""The labels of the lines of this process: its app, and the processor, task and step at work.

A worker serves one lane, whichever of its threads logs, so these are of the process and not of a thread.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class ProcessRole(StrEnum):
    """The role of a process in its app."""

    DRIVER = "driver"
    EXECUTOR = "executor"


def _no_step() -> str:
    return ""


@dataclass(slots=True)
class LineLabels:
    """The labels of the next line."""

    app: str = ""  # the application id
    role: str = ""  # a ProcessRole
    processor: str = ""
    _tasks: Sequence[str] = field(default_factory=tuple)  # of the lane, in the order of their numbers
    _task: int | None = None
    _step: Callable[[], str] = _no_step

    @contextmanager
    def of_lane(self, processor: str, tasks: Sequence[str], step: Callable[[], str]) -> Iterator[None]:
        """Inside, lines are of this lane; `step` says which operator, or other step, is at work."""
        self.processor, self._tasks, self._step = processor, tasks, step
        try:
            yield
        finally:
            self._step = _no_step

    @contextmanager
    def of_task(self, number: int) -> Iterator[None]:
        """Inside, lines are of this task of the lane."""
        self._task = number
        try:
            yield
        finally:
            self._task = None

    def as_dict(self) -> dict[str, str]:
        """Those that there are, beside app and role."""
        number = self._task
        task = self._tasks[number] if number is not None and number < len(self._tasks) else ""
        labels = {"processor": self.processor, "task": task, "step": self._step()}
        return {name: value for name, value in labels.items() if value}


LINE_LABELS: Final = LineLabels()
"""Of this process."""
