"""Processes for work that may take more than the operator can give: each request has one to itself.

They start when they are needed and end when they were idle for a while. One that takes too long, says too
much or ends by itself is replaced.
"""

import asyncio
import sys
from dataclasses import dataclass
from typing import Final

from streamapp_operator.reconciler.worker_messages import LENGTH_BYTES, framed

START_SECONDS: Final = 20.0
"""For a process to say that it takes a request, at its start and after each answer."""
IDLE_SECONDS: Final = 30.0
_FAILURES: Final = (TimeoutError, OSError, EOFError)


@dataclass(frozen=True, slots=True)
class _Worker:
    process: asyncio.subprocess.Process
    requests: asyncio.StreamWriter
    answers: asyncio.StreamReader

    async def message(self, most_bytes: int) -> bytes:
        length = int.from_bytes(await self.answers.readexactly(LENGTH_BYTES))
        if length > most_bytes:
            raise OSError(f"a message of {length} bytes")
        return await self.answers.readexactly(length)

    async def takes_requests(self) -> None:
        async with asyncio.timeout(START_SECONDS):
            await self.message(0)


async def _started_worker(module: str) -> _Worker:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", module, stdin=pipe, stdout=pipe)
    if process.stdin is None or process.stdout is None:
        raise OSError("a process without pipes")
    return _Worker(process, process.stdin, process.stdout)


@dataclass(slots=True)
class WorkerProcess:
    """One process, started when it is needed and ended when it was idle for a while."""

    module: str
    most_seconds: float  # for an answer; then it is killed, whatever it does
    most_bytes: int  # of an answer
    _worker: _Worker | None = None
    _ending: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process; None where there is none."""
        return self._worker.process.pid if self._worker is not None else None

    async def ask(self, request: bytes) -> bytes | None:
        """The answer; None where the process ended, or took too long."""
        if self._ending is not None:
            self._ending.cancel()
        try:
            worker = await self._ready_worker()
            async with asyncio.timeout(self.most_seconds):
                worker.requests.write(framed(request))
                await worker.requests.drain()
                answer = await worker.message(self.most_bytes)
        except BaseException as error:  # also a cancelled reconcile: what is on its way answers nobody
            await self.close()
            if isinstance(error, _FAILURES):
                return None
            raise
        loop = asyncio.get_running_loop()
        self._ending = loop.call_later(IDLE_SECONDS, lambda: loop.create_task(self.close()))
        return answer

    async def _ready_worker(self) -> _Worker:
        """The process once it takes a request: a new one where the last has ended, or cannot let go."""
        if self._worker is not None:
            try:
                await self._worker.takes_requests()
            except _FAILURES:
                await self.close()
            else:
                return self._worker
        self._worker = await _started_worker(self.module)
        await self._worker.takes_requests()
        return self._worker

    async def close(self) -> None:
        """End the process."""
        worker, self._worker = self._worker, None
        if self._ending is not None:
            self._ending.cancel()
        if worker is not None:
            if worker.process.returncode is None:
                worker.process.kill()
            await worker.process.communicate()


class WorkerProcesses:
    """So many processes of one kind, which take turns: the last that was busy goes first."""

    def __init__(self, module: str, number: int, most_seconds: float, most_bytes: int) -> None:
        self.processes = tuple(WorkerProcess(module, most_seconds, most_bytes) for _ in range(number))
        self._idle: asyncio.LifoQueue[WorkerProcess] = asyncio.LifoQueue()
        for process in self.processes:
            self._idle.put_nowait(process)

    async def ask(self, request: bytes) -> bytes | None:
        """The answer of the next process that is idle; None where it ended, or took too long."""
        process = await self._idle.get()
        try:
            return await process.ask(request)
        finally:
            self._idle.put_nowait(process)

    async def close(self) -> None:
        """End all processes."""
        for process in self.processes:
            await process.close()
