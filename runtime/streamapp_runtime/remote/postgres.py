"""A table or view of PostgreSQL: one query for each call, by an array of its keys.

    remote:
      python: streamapp_runtime.remote.postgres:PostgresTable
      options: {url: "postgresql://app@db:5432/shop", table: sales.prices, keyColumn: article,
                passwordVariable: PGPASSWORD}

The key column is of texts, whole numbers or UUIDs; a key that is none of these has no row. Columns have types
whose values all are ones of the declared columns: nothing is rounded, cut or guessed. A session only reads.
"""

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qsl, unquote

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.problem import nearest
from streamapp.spec.resource.systems import POSTGRES_SECRETS, POSTGRES_SETTINGS
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.operators.user_code.user_batch import KEY
from streamapp_runtime.remote.keyed_values import cast_values, text_keys
from streamapp_runtime.remote.remote_class import RemoteConfig
from streamapp_runtime.remote.table_options import named_secret, table_options, url_without_password
from streamapp_runtime.systems.sinks.postgres_session import PostgresSession
from streamapp_runtime.systems.sinks.postgres_settings import connection_parameters
from streamapp_runtime.systems.sinks.postgres_tables import (
    INFINITE_TIME,
    has_infinite_time,
    own_type,
    quoted,
    quoted_column,
    read_expression,
    reads,
)
from streamapp_runtime.systems.stream_system import DeniedError, UnavailableError

_REQUIRED: Final = ("url", "table", "keyColumn")
_DEFAULTS: Final = {"passwordVariable": ""}
_PARAMETERS: Final = sorted(POSTGRES_SETTINGS | POSTGRES_SECRETS - {"password"})

_LEAST, _MOST = (pa.scalar(Decimal(bound), pa.decimal128(19)) for bound in (-(2**63), 2**63 - 1))


def _texts(keys: pa.StringArray) -> pa.Array:
    return _where(keys, r"^[^\x00]*$")


def _whole_numbers(keys: pa.StringArray) -> pa.Array:
    numbers = _where(keys, r"^-?[0-9]{1,19}$").cast(pa.decimal128(19))
    is_long = pc.and_(pc.less_equal(numbers, _MOST), pc.greater_equal(numbers, _LEAST))
    return pc.if_else(is_long, numbers, None).cast(pa.int64())


def _uuids(keys: pa.StringArray) -> pa.Array:
    digits = "[0-9A-Fa-f]"
    return pc.ascii_lower(_where(keys, rf"^{digits}{{8}}(-{digits}{{4}}){{3}}-{digits}{{12}}$"))


def _where(keys: pa.StringArray, pattern: str) -> pa.Array:
    return pc.if_else(pc.match_substring_regex(keys, pattern), keys, None)


Typed = Callable[[pa.StringArray], pa.Array]
_KEYS: Final[Mapping[str, tuple[str, str, Typed]]] = MappingProxyType(
    {
        "text": ("text", "text", _texts),
        "character varying": ("text", "text", _texts),
        "smallint": ("bigint", "bigint", _whole_numbers),
        "integer": ("bigint", "bigint", _whole_numbers),
        "bigint": ("bigint", "bigint", _whole_numbers),
        "uuid": ("uuid", "text", _uuids),
    }
)
"""By type of the key column: the type that it is compared in, that it is read in, and keys as such."""


class PostgresTable:
    """Asks a PostgreSQL server for rows."""

    unavailable = (UnavailableError,)

    def __init__(self) -> None:
        self._session: PostgresSession | None = None
        self._lookup: _Lookup | None = None

    def check(self, config: RemoteConfig) -> None:
        """Refuse options that there are not, and columns that no table has."""
        options = table_options(config, _DEFAULTS, *_REQUIRED)
        _parameters(options, config.timeout_seconds)
        if options["table"].count(".") > 1:
            raise ValueError('option "table" is no table; write a name, or schema.table')
        for column, field in zip(parse_columns(config.column_list), config.columns, strict=True):
            if own_type(field.type) is None:
                raise ValueError(
                    f'column "{field.name}" is {column.type}, which a table of PostgreSQL does not have; '
                    "declare it STRING, and read it by from_json in a map"
                )

    def open(self, config: RemoteConfig) -> None:
        """Make a session, whose first statement connects."""
        self._config, self._options = config, table_options(config, _DEFAULTS, *_REQUIRED)
        settings = (
            "SET default_transaction_read_only = on",
            f"SET statement_timeout = {math.ceil(config.timeout_seconds * 1_000)}",
            "SET jit = off",  # which takes longer than looking up some thousand keys
        )
        parameters = _parameters(self._options, config.timeout_seconds)
        self._session = PostgresSession(parameters, settings, "url and passwordVariable")

    def get_many(self, keys: pa.BinaryArray) -> pa.RecordBatch:
        """The rows of the keys that the table has."""
        if self._session is None:
            raise RuntimeError("open comes before get_many")
        try:
            self._lookup = self._lookup or _Lookup(self._session, self._config, self._options)
            return self._lookup.rows(keys)
        except DeniedError as error:  # an output's rows can wait for a right; these hold the app
            raise ValueError(str(error)) from None

    def close(self) -> None:
        """Close the connection."""
        if self._session is not None:
            self._session.close()


class _Lookup:
    """The query by keys, made for the types of the table's columns."""

    def __init__(self, session: PostgresSession, config: RemoteConfig, options: Mapping[str, str]) -> None:
        self._session, self._fields, self._table = session, config.columns, options["table"]
        types = {column.name: column.type for column in session.columns(self._table)}
        if not types:
            raise ValueError(f'there is no table or view "{self._table}" in {session.address}')
        key = options["keyColumn"]
        kind = self._type(types, key)
        base = kind.partition("(")[0]
        if base not in _KEYS:
            raise ValueError(
                f'keyColumn: "{key}" is {kind}; name a column of {", ".join(_KEYS)}, or a view that has one'
            )
        compared, read, self._typed = _KEYS[base]
        values = [f"CAST({quoted_column(key)} AS {read})"]
        for column, field in zip(parse_columns(config.column_list), self._fields, strict=True):
            there, wanted = self._type(types, field.name), own_type(field.type) or ""
            if not reads(wanted, there):
                raise ValueError(
                    f'"{field.name}" is {there} in "{self._table}", which may have values that are no '
                    f"{column.type}; change columns, or name a view that casts it"
                )
            values.append(read_expression(field))
        self._query = (  # of names that are quoted
            f"SELECT {', '.join(values)} FROM {quoted(self._table)} "  # noqa: S608
            f"WHERE {quoted_column(key)} = ANY (CAST($1 AS {compared}[]))"
        )

    def rows(self, keys: pa.BinaryArray) -> pa.RecordBatch:
        """The rows of the keys that the table has."""
        typed_keys = self._typed(text_keys(keys))
        answer = self._session.rows_of(self._query, typed_keys.drop_null())
        known_keys, *columns = (column.combine_chunks() for column in answer.columns)
        if len(pc.unique(known_keys)) != len(known_keys):
            raise ValueError(f'"{self._table}" has several rows of a key; name a keyColumn that is unique')
        places = pc.index_in(typed_keys, value_set=known_keys, skip_nulls=True)
        values = [_column(one, field) for one, field in zip(columns, self._fields, strict=True)]
        rows = pa.RecordBatch.from_arrays(values, schema=self._fields).take(places.drop_null())
        return rows.append_column(KEY, keys.filter(places.is_valid()))

    def _type(self, types: Mapping[str, str], name: str) -> str:
        if name not in types:
            raise ValueError(f'"{self._table}" has no column "{name}"{nearest(name, list(types))}')
        return types[name]


def _column(values: pa.Array, field: pa.Field) -> pa.Array:
    cast = cast_values(values, field)
    if has_infinite_time(cast):
        raise ValueError(f'column "{field.name}": {INFINITE_TIME}')
    return cast


def _parameters(options: Mapping[str, str], timeout_seconds: float) -> dict[str, str]:
    parts = url_without_password(options["url"], "passwordVariable")
    user, _, servers = parts.netloc.rpartition("@")
    database = unquote(parts.path.lstrip("/"))
    if parts.scheme not in {"postgres", "postgresql"} or not servers or not database:
        raise ValueError('option "url" is none of a database; write postgresql://user@host:port/database')
    settings = dict(parse_qsl(parts.query))
    for name in settings:
        if name not in _PARAMETERS:
            raise ValueError(f'option "url": no parameter "{name}"{nearest(name, _PARAMETERS)}')
    least = {"connect_timeout": str(max(2, math.ceil(timeout_seconds)))}  # libpq knows no shorter one
    password = named_secret(options, "passwordVariable")
    login = {name: value for name, value in (("user", unquote(user)), ("password", password)) if value}
    return connection_parameters(servers, database, {**least, **settings, **login}, None)
