"""The settings of remote tables, as workers receive them."""

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.tables import Remote
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.expressions.sql_types import column_list
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.program.program import Program


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """One remote table. Times are in seconds."""

    table: str
    columns: str  # a column list
    python: str
    options: str = "{}"  # JSON: a value that stays as it is
    cache_size: int = 0
    cache_seconds: float = 60.0
    timeout: float = 5.0
    attempts: int = 3
    backoff: float = 0.1
    rate_limit: int = 0  # keys per second; 0 for no limit
    on_unavailable: str = "wait"

    @property
    def schema(self) -> pa.Schema:
        """The table's columns."""
        return arrow_schema(parse_columns(self.columns))

    @property
    def class_options(self) -> dict[str, Any]:
        """The options that the app gives the class."""
        options: dict[str, Any] = json.loads(self.options)
        return options


def remote_settings(app: StreamApp, program: Program) -> dict[str, RemoteSettings]:
    """The remote tables of an app, by name."""
    columns = {table.name: column_list(table.columns) for table in program.tables}
    return {
        table.name: _settings(table.name, columns[table.name], table.remote)
        for table in app.spec.tables
        if table.remote
    }


def _settings(table: str, columns: str, remote: Remote) -> RemoteSettings:
    return RemoteSettings(
        table=table,
        columns=columns,
        python=remote.python,
        options=json.dumps(remote.options, sort_keys=True),
        cache_size=remote.cache.size,
        cache_seconds=milliseconds(remote.cache.ttl) / 1000,
        timeout=milliseconds(remote.timeout) / 1000,
        attempts=remote.retry.attempts,
        backoff=milliseconds(remote.retry.backoff) / 1000,
        rate_limit=remote.rate_limit,
        on_unavailable=remote.on_unavailable,
    )
