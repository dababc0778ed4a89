"""A table in Redis: each row under a key of its own, as a JSON object or as a hash of its columns.

    remote:
      python: streamapp_runtime.remote.redis:RedisTable
      options: {url: "redis://cache:6379/0", prefix: "user:", format: json, passwordVariable: REDIS_PASSWORD}

The row of table key `ann` lies under `user:ann`. What a JSON value has to be like is what the json format of
streams says; the fields of a hash are texts, which are read as the columns' types. A hash that has none of
the columns is no row.
"""

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from streamapp_runtime.operators.user_code.user_batch import KEY
from streamapp_runtime.remote.keyed_values import JsonRows, cast_values
from streamapp_runtime.remote.remote_class import RemoteConfig
from streamapp_runtime.remote.table_options import named_secret, table_options, url_without_password

OPTIONS: Final = {"url": "redis://localhost:6379/0", "prefix": "", "format": "json", "passwordVariable": ""}
KEYS_PER_COMMAND: Final = 1_000
"""Keys of one command, or commands sent at once: a server serves others between two of them."""

_Rows = Callable[[pa.BinaryArray], pa.RecordBatch]


class RedisTable:
    """Asks a Redis server for rows."""

    unavailable = (redis.ConnectionError, redis.TimeoutError)

    def __init__(self) -> None:
        self._client: Any = None
        self._rows: _Rows | None = None

    def check(self, config: RemoteConfig) -> None:
        """Refuse options that there are not, and columns that the format cannot hold."""
        options = table_options(config, OPTIONS)
        if options["format"] not in {"json", "hash"}:
            raise ValueError(f'option "format" is {options["format"]!r}; allowed are json and hash')
        named_secret(options, "passwordVariable")
        url_without_password(options["url"], "passwordVariable")
        redis.Redis.from_url(options["url"]).close()  # connects to nothing yet
        if options["format"] == "hash":
            for field in config.columns:
                cast_values(pa.array([], pa.binary()), field)

    def open(self, config: RemoteConfig) -> None:
        """Make a client, whose first command connects."""
        options = table_options(config, OPTIONS)
        password = named_secret(options, "passwordVariable")
        more = {"password": password} if password else {}
        self._client = redis.Redis.from_url(
            options["url"],
            socket_timeout=config.timeout_seconds,
            socket_connect_timeout=config.timeout_seconds,
            retry=Retry(NoBackoff(), 0),  # calls are repeated elsewhere
            **more,
        )
        prefix = options["prefix"].encode()
        of_format = self._of_hashes if options["format"] == "hash" else self._of_json
        self._rows = of_format(config, prefix)

    def get_many(self, keys: pa.BinaryArray) -> pa.RecordBatch:
        """The rows of the keys that the server has."""
        if self._rows is None:
            raise RuntimeError("open comes before get_many")
        return self._rows(keys)

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()

    def _of_json(self, config: RemoteConfig, prefix: bytes) -> _Rows:
        json_rows = JsonRows(config)

        def rows(keys: pa.BinaryArray) -> pa.RecordBatch:
            names = [prefix + key for key in keys.to_pylist()]
            values: list[bytes | None] = []
            for start in range(0, len(names), KEYS_PER_COMMAND):
                values += self._client.mget(names[start : start + KEYS_PER_COMMAND])
            return json_rows.rows(keys, pa.array(values, pa.binary()))

        return rows

    def _of_hashes(self, config: RemoteConfig, prefix: bytes) -> _Rows:
        fields = config.columns.names

        def rows(keys: pa.BinaryArray) -> pa.RecordBatch:
            names = [prefix + key for key in keys.to_pylist()]
            answers: list[list[bytes | None]] = []
            for start in range(0, len(names), KEYS_PER_COMMAND):
                with self._client.pipeline(transaction=False) as pipeline:
                    for name in names[start : start + KEYS_PER_COMMAND]:
                        pipeline.hmget(name, fields)
                    answers += pipeline.execute()
            is_present = [any(value is not None for value in answer) for answer in answers]
            present_answers = [answer for answer, has in zip(answers, is_present, strict=True) if has]
            texts = [
                pa.array([answer[place] for answer in present_answers], pa.binary())
                for place in range(len(fields))
            ]
            columns = [cast_values(text, field) for text, field in zip(texts, config.columns, strict=True)]
            rows = pa.RecordBatch.from_arrays(columns, schema=config.columns)
            return rows.append_column(KEY, keys.filter(pa.array(is_present, pa.bool_())))

        return rows
