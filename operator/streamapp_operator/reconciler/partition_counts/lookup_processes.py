"""The processes that look up partition counts: so many at once, whatever clusters make their clients do."""

import asyncio
import json
from contextlib import nullcontext
from dataclasses import replace
from typing import Final

from pydantic import TypeAdapter, ValidationError

from streamapp_operator.reconciler.partition_counts.lookup_messages import (
    MEMORY_BYTES,
    MOST_ANSWER_BYTES,
    MOST_THREADS,
    LookupAnswer,
    LookupRequest,
)
from streamapp_operator.reconciler.worker_processes import WorkerProcess, WorkerProcesses

LOOKUPS_AT_ONCE: Final = 3
DOUBTFUL_AT_ONCE: Final = 2
"""Of those, look-ups of apps or clusters whose last one failed: the others always have a process."""
MOST_TEXT: Final = 1_000
"""Characters of what a look-up says."""
_WORKER: Final = "streamapp_operator.reconciler.partition_counts.lookup_worker"
_ANSWER: Final = TypeAdapter(LookupAnswer)


class LookupProcesses:
    """Asks clusters in processes of their own; each look-up has one to itself."""

    def __init__(self, answer_seconds: float) -> None:
        self._most_seconds = answer_seconds * 3
        self._workers = WorkerProcesses(_WORKER, LOOKUPS_AT_ONCE, self._most_seconds, MOST_ANSWER_BYTES)
        self._doubtful_turns = asyncio.Semaphore(DOUBTFUL_AT_ONCE)

    async def look_up(self, request: LookupRequest, *, doubtful: bool) -> LookupAnswer:
        """The answer, also where the process ended or was ended."""
        async with self._doubtful_turns if doubtful else nullcontext():
            answer = await self._workers.ask(json.dumps(request).encode())
        try:
            decoded_answer = _ANSWER.validate_json(answer or b"", strict=True)
        except ValidationError:
            bounds = f"{MEMORY_BYTES >> 20} MiB of memory, {MOST_THREADS} threads or {self._most_seconds:g} s"
            return LookupAnswer(ended=f"its process ended, or took more than {bounds}")
        return replace(
            decoded_answer,
            unavailable=decoded_answer.unavailable[:MOST_TEXT],
            ended=decoded_answer.ended[:MOST_TEXT],
        )

    def processes(self) -> tuple[WorkerProcess, ...]:
        """All processes, also those that do not run."""
        return self._workers.processes

    async def close(self) -> None:
        """End all processes."""
        await self._workers.close()
