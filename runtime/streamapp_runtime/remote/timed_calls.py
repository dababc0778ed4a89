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
        """What a job gives that is done with the object; TimeoutError when it takes too long.

        The object is made first where there is none, within the same time. After any error there is none.
        """
        if self._jobs is None:
            self._jobs = SimpleQueue()
            Thread(target=self._serve, args=(self._jobs,), name="remote table", daemon=True).start()
        asked: Future[Any] = Future()
        self._jobs.put((job, asked))
        try:
            return asked.result(seconds)
        except BaseException as error:
            self.let_go()
            if isinstance(error, TimeoutError) and not asked.done():
                raise TimeoutError(f"no answer within {seconds:g} s") from None
            raise

    def let_go(self) -> None:
        """Have the object closed, once it is free."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None

    def _serve(self, jobs: "SimpleQueue[Job | None]") -> None:
        made: list[Any] = []
        while (given := jobs.get()) is not None:
            job, asked = given
            try:
                if not made:
                    made.append(self._make())
                asked.set_result(job(made[0]))
            except BaseException as error:
                asked.set_exception(error)
        for each in made:
            with suppress(Exception):  # nothing depends on how it comes to its end
                self._close(each)
