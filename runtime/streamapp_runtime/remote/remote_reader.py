"""A remote table as one lane reads it: every key once in a batch, then what may be remembered of it."""

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from streamapp_runtime.operators.state.lookup_result import LookupResult, lookup_result
from streamapp_runtime.operators.state.remote_lookup import RemoteTableRetryError, RemoteTableUnavailableError
from streamapp_runtime.remote.answer_cache import AnswerCache, Answers
from streamapp_runtime.remote.remote_client import RemoteClient, RemoteSilentError
from streamapp_runtime.remote.remote_settings import RemoteSettings

Count = Callable[[str, int], None]


class RemoteReader:
    """Looks up keys. Within a batch a key has one answer, whenever and by whomever it is looked up."""

    def __init__(
        self,
        settings: RemoteSettings,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings, self._columns, self._clock = settings, settings.schema, clock
        self._ask = RemoteClient(settings, clock, pause)
        self._cache = AnswerCache(settings.cache_size, settings.cache_seconds)
        self.begin()

    def begin(self) -> None:
        """A batch begins."""
        self._batch = Answers()
        self._now = self._clock()
        self._silent = False

    def find(self, keys: pa.Array, count: Count) -> LookupResult:
        """The rows of distinct keys; nothing is found for null.

        AwayError where the table stays away and the app does not go on without it; `count` hears of keys that
        were asked for, that the cache knew, and that got no answer.
        """
        keys = keys.cast(pa.binary())
        present = keys.drop_null()
        self._learn(present.filter(pa.array(~self._batch.find(present).there)), count)
        values = self._batch.find(present).values
        if len(present) < len(keys):
            there = ~np.asarray(keys.is_null())
            values = values.take(pa.array(np.cumsum(there) - 1, mask=~there))
        return lookup_result(values, self._columns)

    def close(self) -> None:
        """Let go of the connection."""
        self._ask.close()

    def _learn(self, keys: pa.BinaryArray, count: Count) -> None:
        """Have an answer to each key for the rest of the batch."""
        if not len(keys):
            return
        known = self._cache.find(keys, self._now)
        good = pa.array(known.there)
        self._batch.put(keys.filter(good), known.values.filter(good), known.given[known.there])
        count("remoteCached", int(known.there.sum()))
        unknown = keys.filter(pa.array(~known.there))
        if len(unknown):
            self._fetch(unknown, count)

    def _fetch(self, keys: pa.BinaryArray, count: Count) -> None:
        try:
            values = pa.nulls(len(keys), pa.binary()) if self._silent else self._ask(keys)
        except RemoteSilentError as error:
            message = f'remote table "{self._settings.table}" is away: {error}'
            if self._settings.on_unavailable == "wait":
                raise RemoteTableRetryError(message) from error
            if self._settings.on_unavailable == "fail":
                raise RemoteTableUnavailableError(message) from error
            self._silent = True  # the rest of the batch does not wait for it again
            values = pa.nulls(len(keys), pa.binary())
        given = np.full(len(keys), self._clock())
        self._batch.put(keys, values, given)
        if self._silent:
            count("remoteUnanswered", len(keys))
        else:
            count("remoteAsked", len(keys))
            self._cache.put(keys, values, given)
