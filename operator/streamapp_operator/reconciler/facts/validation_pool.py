"""Validates large generations in processes of their own, so that no app holds up the others.

A resource takes up to 1.5 MB, and each of its expressions is parsed: that may be a minute of work. Most
resources are small and are validated at once. The others are validated by processes that start when they are
needed, first with little time, then, one at a time, with more. What takes longer is ended, and its generation
is refused.
"""

import json
import pickle
from dataclasses import dataclass, field
from typing import Final

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.generation_validation import (
    GenerationValidation,
    too_costly,
    validate_generation,
)
from streamapp_operator.reconciler.facts.validation_worker import ValidationRequest
from streamapp_operator.reconciler.result_caches import RecentResults
from streamapp_operator.reconciler.worker_processes import WorkerProcess, WorkerProcesses

SMALL_CHARACTERS: Final = 4_096
"""A resource of this size takes a third of a second at most, and mostly a hundredth of that."""
QUICK_SECONDS, MOST_SECONDS = 0.5, 2.0
"""Processor time of a validation: in one of the quick processes, and in the one for what takes longer."""
QUICK_PROCESSES: Final = 2
UNANSWERED_SECONDS: Final = 40.0
"""After this time a process is killed, whatever it does: less than a reconcile may take."""
_MOST_ANSWER_BYTES: Final = 64 * 2**20
_WORKER: Final = "streamapp_operator.reconciler.facts.validation_worker"


@dataclass(slots=True)
class ValidationPool:
    """Validates each generation where its size, and the time that its app took before, fit."""

    small_characters: int = SMALL_CHARACTERS
    quick_seconds: float = QUICK_SECONDS
    most_seconds: float = MOST_SECONDS
    _quick: WorkerProcesses = field(default_factory=lambda: _workers(QUICK_PROCESSES))
    _patient: WorkerProcesses = field(default_factory=lambda: _workers(1))
    _slow_apps: RecentResults[bool] = field(default_factory=RecentResults)

    async def validate(self, manifest: Manifest) -> GenerationValidation:
        """The validation of a generation; a refusal where it takes too much."""
        if len(json.dumps(manifest["spec"])) <= self.small_characters:
            return validate_generation(manifest)
        document = {name: manifest[name] for name in ("apiVersion", "kind", "metadata", "spec")}
        uid, validation = manifest["metadata"].get("uid", ""), None
        if self._slow_apps.peek(uid) is None:
            validation = await _validation(self._quick, document, self.quick_seconds)
        if validation is None:
            self._slow_apps.put(uid, value=True)
            validation = await _validation(self._patient, document, self.most_seconds)
        return validation or too_costly(manifest, f"{self.most_seconds:g} s of processor time")

    def processes(self) -> tuple[WorkerProcess, ...]:
        """All processes, also those that do not run."""
        return self._quick.processes + self._patient.processes

    async def close(self) -> None:
        """End all processes."""
        await self._quick.close()
        await self._patient.close()


def _workers(number: int) -> WorkerProcesses:
    return WorkerProcesses(_WORKER, number, UNANSWERED_SECONDS, _MOST_ANSWER_BYTES)


async def _validation(
    workers: WorkerProcesses, manifest: Manifest, seconds: float
) -> GenerationValidation | None:
    """The validation; None where it takes more than these seconds, or than a process's memory."""
    answer = await workers.ask(json.dumps(ValidationRequest(manifest=manifest, seconds=seconds)).encode())
    validation: GenerationValidation | None = pickle.loads(answer) if answer is not None else None  # noqa: S301 - of our own process
    return validation
