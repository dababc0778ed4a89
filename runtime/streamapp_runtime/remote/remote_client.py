"""Asks a remote table: so many keys a call, each call bounded in time, one that failed tried again."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pyarrow as pa

from streamapp.backoff import Backoff
from streamapp_runtime.operators.user_code.user_code_loader import user_code_guard
from streamapp_runtime.remote.encoded_answers import encoded_answers
from streamapp_runtime.remote.remote_class import config_of, load_remote_class
from streamapp_runtime.remote.remote_settings import RemoteSettings

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


MOST_KEYS = 10_000
"""Keys of one call at most, so that a bound on its time means something."""
LONGEST_BACKOFF_SECONDS = 10.0


class RemoteSilentError(Exception):
    """The remote table did not answer, however often it was asked."""


class RemoteClient:
    """Calls one table's class with retries. While the table is unavailable a call is not retried."""

    def __init__(
        self,
        settings: RemoteSettings,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings, self._columns, self._pause = settings, settings.schema, pause
        self._remote_class = load_remote_class(settings.python)
        self._rate = RateLimit(settings.rate_limit, clock)
        self._calls = TimedCalls(self._open, self._close)
        self._is_unavailable = False

    def __call__(self, keys: pa.BinaryArray) -> pa.BinaryArray:
        """The row of each key, encoded, null where there is none; RemoteSilentError without an answer."""
        parts = [self._with_retries(part) for part in self._parts(keys)]
        return pa.concat_arrays(parts) if parts else pa.array([], pa.binary())

    def close(self) -> None:
        """Close the connections of the class's object."""
        self._calls.release()

    def _parts(self, keys: pa.BinaryArray) -> Iterator[pa.BinaryArray]:
        most = min(MOST_KEYS, self._settings.rate_limit or MOST_KEYS)
        for start in range(0, len(keys), most):
            part = keys.slice(start, most)
            if (seconds := self._rate.wait_for(len(part))) > 0:
                self._pause(seconds)
            yield part

    def _with_retries(self, keys: pa.BinaryArray) -> pa.BinaryArray:
        attempts = 1 if self._is_unavailable else self._settings.attempts
        backoff = Backoff(self._settings.backoff, LONGEST_BACKOFF_SECONDS)
        for attempt in range(1, attempts + 1):
            try:
                answer = self._call(keys)
            except self._remote_class.unavailable as error:
                if attempt == attempts:
                    self._is_unavailable = True
                    raise RemoteSilentError(f"{type(error).__name__}: {error}") from error
                self._pause(backoff.seconds(attempt))
            else:
                self._is_unavailable = False
                return answer
        raise AssertionError(attempts)

    def _call(self, keys: pa.BinaryArray) -> pa.BinaryArray:
        try:
            answer = self._calls.call(lambda instance: instance.get_many(keys), self._settings.timeout)
        except self._remote_class.unavailable:
            raise
        except Exception as error:
            with user_code_guard(self._settings.python, "failed"):
                raise error from None
        return encoded_answers(answer, keys, self._columns, self._settings.python)

    def _open(self) -> Any:
        instance = self._remote_class.cls()
        if hasattr(instance, "open"):
            instance.open(config_of(self._settings))
        return instance

    def _close(self, instance: Any) -> None:
        if hasattr(instance, "close"):
            instance.close()


class RateLimit:
    """Keys flow into a bucket that holds what may be asked for in one second."""

    def __init__(self, limit: int, clock: Callable[[], float]) -> None:
        self.limit, self._clock = limit, clock
        self._level, self._at = float(limit), clock()

    def wait_for(self, count: int) -> float:
        """Take so many keys, at most a second's worth; how long to wait before they are asked for."""
        if not self.limit:
            return 0.0
        now = self._clock()
        self._level = min(self.limit, self._level + (now - self._at) * self.limit) - count
        self._at = now
        return max(0.0, -self._level / self.limit)
