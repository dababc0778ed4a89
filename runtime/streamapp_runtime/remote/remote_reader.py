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
        self._client = RemoteClient(settings, clock, pause)
        self._cache = AnswerCache(settings.cache_size, settings.cache_seconds)
        self.begin()

    def begin(self) -> None:
        """A batch begins."""
        self._batch = Answers()
        self._now = self._clock()
        self._is_unavailable = False

    def find(self, keys: pa.Array, count: Count) -> LookupResult:
        """The rows of distinct keys; nothing is found for null.

        Raises RemoteTableRetryError or RemoteTableUnavailableError where the table is unavailable and the app
        does not go on without the table. `count` receives the numbers of keys that were requested, that the
        cache knew, and that got no answer.
        """
        keys = keys.cast(pa.binary())
        present = keys.drop_null()
        self._load(present.filter(pa.array(~self._batch.find(present).is_known)), count)
        values = self._batch.find(present).values
        if len(present) < len(keys):
            is_not_null = ~np.asarray(keys.is_null())
            values = values.take(pa.array(np.cumsum(is_not_null) - 1, mask=~is_not_null))
        return lookup_result(values, self._columns)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _load(self, keys: pa.BinaryArray, count: Count) -> None:
        """Make an answer to each key known for the rest of the batch."""
        if not len(keys):
            return
        cached = self._cache.find(keys, self._now)
        is_known = pa.array(cached.is_known)
        self._batch.put(
            keys.filter(is_known), cached.values.filter(is_known), cached.answered_at[cached.is_known]
        )
        count("remoteCached", int(cached.is_known.sum()))
        unknown = keys.filter(pa.array(~cached.is_known))
        if len(unknown):
            self._fetch(unknown, count)

    def _fetch(self, keys: pa.BinaryArray, count: Count) -> None:
        try:
            values = pa.nulls(len(keys), pa.binary()) if self._is_unavailable else self._client(keys)
        except RemoteSilentError as error:
            message = f'remote table "{self._settings.table}" is unavailable: {error}'
            if self._settings.on_unavailable == "wait":
                raise RemoteTableRetryError(message) from error
            if self._settings.on_unavailable == "fail":
                raise RemoteTableUnavailableError(message) from error
            self._is_unavailable = True  # the rest of the batch does not wait for it again
            values = pa.nulls(len(keys), pa.binary())
        answered_at = np.full(len(keys), self._clock())
        self._batch.put(keys, values, answered_at)
        if self._is_unavailable:
            count("remoteUnanswered", len(keys))
        else:
            count("remoteAsked", len(keys))
            self._cache.put(keys, values, answered_at)
