"""Calls that end in time: the object that is called lives on a thread of its own.

A call that hangs cannot be ended from outside. It is left behind with its thread, and the next call goes to
another object on another thread; the one left behind closes its object when the call comes back after all.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any

Job = tuple[Callable[[Any], Any], "Future[Any]"]


class TimedCalls:
    """An object, made and used by one thread only."""

    def __init__(self, make: Callable[[], Any], close: Callable[[Any], None]) -> None:
        self._make, self._close = make, close
        self._jobs: SimpleQueue[Job | None] | None = None

    def call(self, job: Callable[[Any], Any], seconds: float) -> Any:
        """The result of a job on the object; TimeoutError when the job takes too long.

        The object is made first where there is none, within the same time. After any error there is none.
        """
        if self._jobs is None:
            self._jobs = SimpleQueue()
            Thread(target=self._serve, args=(self._jobs,), name="remote table", daemon=True).start()
        result: Future[Any] = Future()
        self._jobs.put((job, result))
        try:
            return result.result(seconds)
        except BaseException as error:
            self.release()
            if isinstance(error, TimeoutError) and not result.done():
                raise TimeoutError(f"no answer within {seconds:g} s") from None
            raise

    def release(self) -> None:
        """Have the object closed, once no job uses the object."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None

    def _serve(self, jobs: "SimpleQueue[Job | None]") -> None:
        instances: list[Any] = []
        while (queued := jobs.get()) is not None:
            job, result = queued
            try:
                if not instances:
                    instances.append(self._make())
                result.set_result(job(instances[0]))
            except BaseException as error:
                result.set_exception(error)
        for instance in instances:
            with suppress(Exception):  # nothing depends on how it comes to its end
                self._close(instance)
