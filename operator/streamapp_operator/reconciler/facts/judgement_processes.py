"""Judges large generations in processes of their own, so that no app holds up the others.

A resource takes up to 1.5 MB, and each of its expressions is parsed: that may be a minute of work. Most
resources are small and are judged at once. The others are judged by processes that start when they are
needed, first with little time, then, one at a time, with more. What takes longer is ended, and its generation
is refused.
"""

import asyncio
import json
import pickle
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.generation_judgement import (
    GenerationJudgement,
    judge_generation,
    too_costly,
)
from streamapp_operator.reconciler.facts.judgement_worker import LENGTH_BYTES, JudgementRequest, framed
from streamapp_operator.reconciler.result_caches import RecentResults

SMALL_CHARACTERS: Final = 4_096
"""A resource of this size takes a third of a second at most, and mostly a hundredth of that."""
QUICK_SECONDS, MOST_SECONDS = 0.5, 2.0
"""Processor time of a judgement: in one of the quick processes, and in the one for what takes longer."""
QUICK_PROCESSES: Final = 2
UNANSWERED_SECONDS: Final = 40.0
"""After this time a process is killed, whatever it does: less than a reconcile may take."""
IDLE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class _Worker:
    process: asyncio.subprocess.Process
    requests: asyncio.StreamWriter
    answers: asyncio.StreamReader

    async def message(self) -> bytes:
        length = int.from_bytes(await self.answers.readexactly(LENGTH_BYTES))
        return await self.answers.readexactly(length)


async def _started_worker() -> _Worker:
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, "-m", "streamapp_operator.reconciler.facts.judgement_worker"]
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    if process.stdin is None or process.stdout is None:
        raise OSError("a process without pipes")
    return _Worker(process, process.stdin, process.stdout)


@dataclass(slots=True)
class JudgementProcess:
    """One process, started when it is needed and ended when it was idle for a while."""

    seconds: float
    _worker: _Worker | None = None
    _ending: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        """Whether there is a process."""
        return self._worker is not None

    async def judge(self, manifest: Manifest) -> GenerationJudgement | None:
        """The judgement; None where it takes more than this process's seconds or memory."""
        if self._ending is not None:
            self._ending.cancel()
        try:
            async with asyncio.timeout(UNANSWERED_SECONDS):
                judgement = await self._answer(manifest)
        except BaseException as error:  # also a cancelled reconcile: what is on its way answers nobody
            await self.close()
            if isinstance(error, TimeoutError | OSError | EOFError):
                return None
            raise
        loop = asyncio.get_running_loop()
        self._ending = loop.call_later(IDLE_SECONDS, lambda: loop.create_task(self.close()))
        return judgement

    async def _answer(self, manifest: Manifest) -> GenerationJudgement | None:
        if self._worker is None:
            self._worker = await _started_worker()
            await self._worker.message()  # it is ready
        worker = self._worker
        payload = json.dumps(JudgementRequest(manifest=manifest, seconds=self.seconds)).encode()
        worker.requests.write(framed(payload))
        await worker.requests.drain()
        answer: GenerationJudgement | None = pickle.loads(await worker.message())  # noqa: S301 - of our own process
        return answer

    async def close(self) -> None:
        """End the process."""
        worker, self._worker = self._worker, None
        if self._ending is not None:
            self._ending.cancel()
        if worker is not None:
            if worker.process.returncode is None:
                worker.process.kill()
            await worker.process.communicate()


@dataclass(slots=True)
class GenerationJudges:
    """Judges each generation where its size, and the time that its app took before, have a place for it."""

    small_characters: int = SMALL_CHARACTERS
    quick_seconds: float = QUICK_SECONDS
    most_seconds: float = MOST_SECONDS
    _quick: tuple[JudgementProcess, ...] = field(init=False)
    _patient: JudgementProcess = field(init=False)
    _busy: set[int] = field(default_factory=set)  # which of them work
    _quick_turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(QUICK_PROCESSES))
    _patient_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _slow_apps: RecentResults[bool] = field(default_factory=RecentResults)

    def __post_init__(self) -> None:
        self._quick = tuple(JudgementProcess(self.quick_seconds) for _ in range(QUICK_PROCESSES))
        self._patient = JudgementProcess(self.most_seconds)

    async def judge(self, manifest: Manifest) -> GenerationJudgement:
        """The judgement of a generation; a refusal where it takes too much."""
        if len(json.dumps(manifest["spec"])) <= self.small_characters:
            return judge_generation(manifest)
        document = {name: manifest[name] for name in ("apiVersion", "kind", "metadata", "spec")}
        uid, judgement = manifest["metadata"].get("uid", ""), None
        if self._slow_apps.peek(uid) is None:
            async with self._quick_process() as process:
                judgement = await process.judge(document)
        if judgement is None:
            self._slow_apps.put(uid, value=True)
            async with self._patient_turn:
                judgement = await self._patient.judge(document)
        return judgement or too_costly(manifest, f"{self.most_seconds:g} s of processor time")

    @asynccontextmanager
    async def _quick_process(self) -> AsyncIterator[JudgementProcess]:
        async with self._quick_turns:
            number = next(number for number in range(QUICK_PROCESSES) if number not in self._busy)
            self._busy.add(number)
            try:
                yield self._quick[number]
            finally:
                self._busy.remove(number)

    def processes(self) -> tuple[JudgementProcess, ...]:
        """All processes, also those that do not run."""
        return (*self._quick, self._patient)

    async def close(self) -> None:
        """End all processes."""
        for process in self.processes():
            await process.close()
