"""A work queue of keys: each waits once, in order of arrival, and no key is processed twice at a time.

A key that comes again and again is processed once a second, so that an app which is edited without end takes
no time from the others.
"""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
BURST = 20
"""Times that a key is processed without a delay: a launch or a restart takes six."""
SECONDS_EACH = 1.0
"""Seconds after which a key may be processed once more."""
MAX_REMEMBERED = 4_096
"""Keys that are remembered before those are forgotten that have not come for a while."""


class KeyQueue(Generic[K]):
    """One queue of keys, within one event loop.

    Adding a waiting key has no effect. A key that is added while it is processed is queued again afterwards,
    at the end of the queue, so that no key starves the others.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._ready_since: dict[K, float] = {}  # when each ready key was added
        self._running: set[K] = set()
        self._readded_at: dict[K, float] = {}  # keys that were added while they were processed
        self._timers: dict[K, tuple[float, asyncio.TimerHandle]] = {}
        self._spent_until: dict[K, float] = {}  # when each key has all its turns again

    def add(self, key: K) -> None:
        """Queue a key whose app may have changed."""
        if key in self._ready_since:
            return
        if key in self._running:
            self._readded_at.setdefault(key, self._clock())
            return
        self._add_since(key, self._clock())

    def _add_since(self, key: K, since: float) -> None:
        """Queue a key, after a delay where it has spent its turns."""
        delay = self._spent_until.get(key, 0.0) - (BURST - 1) * SECONDS_EACH - self._clock()
        if delay > 0:
            self.add_after(key, delay)
            return
        self._ready_since[key] = since
        self._ready.put_nowait(key)

    def _spend(self, key: K) -> None:
        now = self._clock()
        self._spent_until[key] = max(self._spent_until.get(key, now), now) + SECONDS_EACH
        if len(self._spent_until) > MAX_REMEMBERED:
            self._spent_until = {one: until for one, until in self._spent_until.items() if until > now}

    def add_after(self, key: K, seconds: float) -> None:
        """Queue a key after a delay; the earliest of several delays counts."""
        due = self._clock() + seconds
        timer_entry = self._timers.get(key)
        if timer_entry is not None:
            if timer_entry[0] <= due:
                return
            timer_entry[1].cancel()
        timer = asyncio.get_running_loop().call_later(seconds, self._due, key)
        self._timers[key] = (due, timer)

    def _due(self, key: K) -> None:
        self._timers.pop(key, None)
        self.add(key)

    async def get(self) -> K:
        """The next key, as soon as there is one; the caller has to call `done` with it.

        A pending delay of the key is cancelled: the reconcile that follows decides about the next one.
        """
        key = await self._ready.get()
        del self._ready_since[key]
        self._running.add(key)
        self._spend(key)
        timer_entry = self._timers.pop(key, None)
        if timer_entry is not None:
            timer_entry[1].cancel()
        return key

    def done(self, key: K) -> None:
        """End the processing of a key."""
        self._running.discard(key)
        readded_at = self._readded_at.pop(key, None)
        if readded_at is not None:
            self._add_since(key, readded_at)

    @property
    def depth(self) -> int:
        """The number of waiting keys."""
        return len(self._ready_since)

    @property
    def age(self) -> float:
        """For how long the oldest ready key has been waiting."""
        return self._clock() - min(self._ready_since.values()) if self._ready_since else 0.0

    def close(self) -> None:
        """Cancel all delays."""
        for _, timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
