"""A table in Redis: each row under a key of its own, as a JSON object or as a hash of its columns.

    remote:
      python: streamapp_runtime.remote.redis:RedisTable
      options: {url: "redis://cache:6379/0", prefix: "user:", format: json, passwordVariable: REDIS_PASSWORD}

The row of table key `ann` lies under `user:ann`. What a JSON value has to be like is what the json format of
streams says; the fields of a hash are texts, which are read as the columns' types. A hash that has none of
the columns is no row.
"""

import os
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from streamapp.spec.problem import nearest
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.json.json_format import JsonFormat
from streamapp_runtime.operators.user_code.user_batch import KEY
from streamapp_runtime.remote.remote_class import RemoteConfig

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
        options = _options(config)
        if options["format"] not in {"json", "hash"}:
            raise ValueError(f'option "format" is {options["format"]!r}; allowed are json and hash')
        variable = options["passwordVariable"]
        if variable and variable not in os.environ:
            raise ValueError(f'option "passwordVariable": there is no environment variable "{variable}"')
        redis.Redis.from_url(options["url"]).close()  # connects to nothing yet
        if options["format"] == "hash":
            for field in config.columns:
                _cast_texts(pa.array([], pa.string()), field)

    def open(self, config: RemoteConfig) -> None:
        """Make a client, whose first command connects."""
        options = _options(config)
        password = os.environ.get(options["passwordVariable"]) if options["passwordVariable"] else None
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
        form = JsonFormat(list(parse_columns(config.column_list)))

        def rows(keys: pa.BinaryArray) -> pa.RecordBatch:
            names = [prefix + key for key in keys.to_pylist()]
            values: list[bytes | None] = []
            for start in range(0, len(names), KEYS_PER_COMMAND):
                values += self._client.mget(names[start : start + KEYS_PER_COMMAND])
            value_column = pa.array(values, pa.binary())
            is_present = value_column.is_valid()
            decoded = form.decode(value_column.filter(is_present))
            keys = keys.filter(is_present)
            if decoded.bad:
                first = decoded.bad[0]
                raise ValueError(f"the value of key {keys[first.index].as_py()!r}: {first.reason}")
            return decoded.columns.append_column(KEY, keys)

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
            columns = [_cast_texts(text, field) for text, field in zip(texts, config.columns, strict=True)]
            rows = pa.RecordBatch.from_arrays(columns, schema=config.columns)
            return rows.append_column(KEY, keys.filter(pa.array(is_present, pa.bool_())))

        return rows


def _options(config: RemoteConfig) -> dict[str, str]:
    for name, value in config.options.items():
        if name not in OPTIONS:
            raise ValueError(f'no option "{name}"{nearest(name, list(OPTIONS))}')
        if not isinstance(value, str):
            raise ValueError(f'option "{name}" has to be a text; found {value!r}')  # noqa: TRY004
    return {**OPTIONS, **config.options}


def _cast_texts(texts: pa.Array, field: pa.Field) -> pa.Array:
    if pa.types.is_binary(field.type):
        return texts.cast(field.type)
    try:
        return texts.cast(pa.string()).cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f'column "{field.name}" as {field.type} from a hash: {error}') from error
