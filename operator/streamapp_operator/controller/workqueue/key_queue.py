"""Keys that wait for a reconcile: each once, in the order of their coming, no key twice at a time."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")


class KeyQueue(Generic[K]):
    """One queue of keys, within one event loop.

    A key that is added while it waits is there already; one that is added while it is worked on comes again
    afterwards, at the end of the queue, so that no key keeps the others from their turn.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._since: dict[K, float] = {}  # what is ready, and since when
        self._running: set[K] = set()
        self._again: dict[K, float] = {}  # what came while it was worked on
        self._timers: dict[K, tuple[float, asyncio.TimerHandle]] = {}

    def add(self, key: K) -> None:
        """Something about this key may have changed."""
        if key in self._since:
            return
        if key in self._running:
            self._again.setdefault(key, self._clock())
            return
        self._since[key] = self._clock()
        self._ready.put_nowait(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Look at this key again after a while; the earliest of several such whiles counts."""
        due = self._clock() + seconds
        waiting = self._timers.get(key)
        if waiting is not None:
            if waiting[0] <= due:
                return
            waiting[1].cancel()
        timer = asyncio.get_running_loop().call_later(seconds, self._due, key)
        self._timers[key] = (due, timer)

    def _due(self, key: K) -> None:
        self._timers.pop(key, None)
        self.add(key)

    async def get(self) -> K:
        """The next key, as soon as there is one. Whoever took it says `done`.

        What was to be looked at again later is looked at now, and decides anew.
        """
        key = await self._ready.get()
        del self._since[key]
        self._running.add(key)
        waiting = self._timers.pop(key, None)
        if waiting is not None:
            waiting[1].cancel()
        return key

    def done(self, key: K) -> None:
        """This key is no longer worked on."""
        self._running.discard(key)
        since = self._again.pop(key, None)
        if since is not None:
            self._since[key] = since
            self._ready.put_nowait(key)

    @property
    def depth(self) -> int:
        """How many keys are ready and not worked on."""
        return len(self._since)

    @property
    def age(self) -> float:
        """For how long the oldest ready key has been waiting."""
        return self._clock() - min(self._since.values()) if self._since else 0.0

    def close(self) -> None:
        """Forget what was to come later."""
        for _, timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
