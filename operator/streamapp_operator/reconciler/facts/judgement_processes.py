"""Judges large generations in processes of their own, so that no app holds up the others.

A resource takes up to 1.5 MB, and each of its expressions is parsed: that may be a minute of work. Most
resources are small and are judged at once. The others are judged by processes that start when they are
needed, first with little time, then, one at a time, with more. What takes longer is ended, and its generation
is refused.
"""

import json
import pickle
from dataclasses import dataclass, field
from typing import Final

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.generation_judgement import (
    GenerationJudgement,
    judge_generation,
    too_costly,
)
from streamapp_operator.reconciler.facts.judgement_worker import JudgementRequest
from streamapp_operator.reconciler.result_caches import RecentResults
from streamapp_operator.reconciler.worker_processes import WorkerProcess, WorkerProcesses

SMALL_CHARACTERS: Final = 4_096
"""A resource of this size takes a third of a second at most, and mostly a hundredth of that."""
QUICK_SECONDS, MOST_SECONDS = 0.5, 2.0
"""Processor time of a judgement: in one of the quick processes, and in the one for what takes longer."""
QUICK_PROCESSES: Final = 2
UNANSWERED_SECONDS: Final = 40.0
"""After this time a process is killed, whatever it does: less than a reconcile may take."""
_MOST_ANSWER_BYTES: Final = 64 * 2**20
_WORKER: Final = "streamapp_operator.reconciler.facts.judgement_worker"


@dataclass(slots=True)
class GenerationJudges:
    """Judges each generation where its size, and the time that its app took before, have a place for it."""

    small_characters: int = SMALL_CHARACTERS
    quick_seconds: float = QUICK_SECONDS
    most_seconds: float = MOST_SECONDS
    _quick: WorkerProcesses = field(default_factory=lambda: _workers(QUICK_PROCESSES))
    _patient: WorkerProcesses = field(default_factory=lambda: _workers(1))
    _slow_apps: RecentResults[bool] = field(default_factory=RecentResults)

    async def judge(self, manifest: Manifest) -> GenerationJudgement:
        """The judgement of a generation; a refusal where it takes too much."""
        if len(json.dumps(manifest["spec"])) <= self.small_characters:
            return judge_generation(manifest)
        document = {name: manifest[name] for name in ("apiVersion", "kind", "metadata", "spec")}
        uid, judgement = manifest["metadata"].get("uid", ""), None
        if self._slow_apps.peek(uid) is None:
            judgement = await _judgement(self._quick, document, self.quick_seconds)
        if judgement is None:
            self._slow_apps.put(uid, value=True)
            judgement = await _judgement(self._patient, document, self.most_seconds)
        return judgement or too_costly(manifest, f"{self.most_seconds:g} s of processor time")

    def processes(self) -> tuple[WorkerProcess, ...]:
        """All processes, also those that do not run."""
        return self._quick.processes + self._patient.processes

    async def close(self) -> None:
        """End all processes."""
        await self._quick.close()
        await self._patient.close()


def _workers(number: int) -> WorkerProcesses:
    return WorkerProcesses(_WORKER, number, UNANSWERED_SECONDS, _MOST_ANSWER_BYTES)


async def _judgement(
    workers: WorkerProcesses, manifest: Manifest, seconds: float
) -> GenerationJudgement | None:
    """The judgement; None where it takes more than these seconds, or than a process's memory."""
    answer = await workers.ask(json.dumps(JudgementRequest(manifest=manifest, seconds=seconds)).encode())
    judgement: GenerationJudgement | None = pickle.loads(answer) if answer is not None else None  # noqa: S301 - of our own process
    return judgement
