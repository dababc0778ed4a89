"""The table in PostgreSQL, against a real server."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.remote.remote_client import RemoteSilentError
from streamapp_runtime.systems.sinks.postgres_tables import own_type, quoted_column
from tests.harness.core.all_cases import all_cases
from tests.harness.machine.postgres_server import USER, PostgresServer
from tests.runtime.remote.remote_table_contract import KEYS, RemoteTableContract, Row, asking, found


@dataclass(slots=True)
class PostgresService:
    """Rows of a table whose columns have the types that a sink would give them."""

    server: PostgresServer
    more: Row = field(default_factory=dict)
    python: str = "streamapp_runtime.remote.postgres:PostgresTable"
    keeps_nulls: bool = True

    @property
    def options(self) -> Row:
        url = f"postgresql://{USER}@{self.server.address}/postgres"
        return {"url": url, "table": "shop.Users", "keyColumn": "user id", **self.more}

    def make(self, columns: str, key: str = "text PRIMARY KEY", rows: str = "") -> None:
        insertion = [f'INSERT INTO shop."Users" VALUES {rows}'] if rows else []
        table = f'CREATE TABLE shop."Users" ("user id" {key}, {columns})'
        self.execute("DROP SCHEMA IF EXISTS shop CASCADE", "CREATE SCHEMA shop", table, *insertion)

    def fill(self, columns: str, table: Mapping[bytes, Row]) -> None:
        schema = arrow_schema(parse_columns(columns))
        rows = ([key.decode(), *(row[one.name] for one in schema)] for key, row in table.items())
        values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
        self.make(", ".join(f"{quoted_column(one.name)} {own_type(one.type)}" for one in schema), rows=values)

    def execute(self, *statements: str) -> None:
        self.server.execute(f"DO $do$ BEGIN {'; '.join(statements)}; END $do$")


def literal(value: Any) -> str:
    return "NULL" if value is None else "'{}'".format(str(value).replace("'", "''"))


@pytest.fixture
def service(postgres_server: PostgresServer) -> PostgresService:
    return PostgresService(postgres_server)


class TestPostgres(RemoteTableContract):
    pass


def asked(service: PostgresService, columns: str, keys: list[bytes] = KEYS, **more: Any) -> list[Row | None]:
    with asking(service, columns, **more) as ask:
        return found(ask, columns, keys)


def test_keys_are_texts_whole_numbers_or_uuids_and_others_have_no_row(service: PostgresService) -> None:
    one = b"c0ffee00-0000-4000-8000-00000000000a"
    most = b"9223372036854775807"
    cases: dict[str, tuple[bytes, list[bytes]]] = {
        "text": (b"a", [b"a", b"A", b"a ", b"", b"a\0", "ä".encode()]),
        "varchar(2)": (b"ab", [b"ab", b"abc", b"a"]),
        "smallint": (b"7", [b"7", b"40000", b"x", b"7.0", b""]),
        "integer": (b"-7", [b"-7", b"7", most]),
        "bigint": (most, [most, b"9223372036854775808", b"-9223372036854775808", b"1" * 30]),
        "uuid": (one, [one, b"c0ffee00-0000-4000-8000-00000000000b", b"x"]),
    }
    with all_cases() as case:
        for kind, (there, keys) in cases.items():
            with case(kind):
                service.make("n int", f"{kind} PRIMARY KEY", f"({literal(there.decode())}, 1)")
                assert asked(service, "n INT", keys) == [{"n": 1}, *[None] * (len(keys) - 1)]


def test_every_way_to_write_a_key_finds_its_row(service: PostgresService) -> None:
    service.make("n int", "bigint PRIMARY KEY", "(7, 1)")
    assert asked(service, "n INT", [b"7", b"8", b"007"]) == [{"n": 1}, None, {"n": 1}]


def test_columns_that_hold_other_types_of_the_same_values_are_read(service: PostgresService) -> None:
    at = datetime(2026, 1, 31, 12, 0, 0, 5, tzinfo=UTC)
    cases: dict[str, tuple[str, str, Any]] = {
        "smallint": ("BIGINT", "3", 3),
        "integer": ("DECIMAL(12,2)", "3", Decimal("3.00")),
        "real": ("DOUBLE", "1.5", 1.5),
        "numeric": ("DECIMAL(5,2)", "123.450", Decimal("123.45")),
        "numeric(3,1)": ("DECIMAL(5,2)", "99.9", Decimal("99.90")),
        "varchar(5)": ("STRING", "abc", "abc"),
        "uuid": ("STRING", "C0FFEE00-0000-4000-8000-00000000000A", "c0ffee00-0000-4000-8000-00000000000a"),
        "jsonb": ("STRING", '{"a": 1}', '{"a": 1}'),
        "bytea": ("BINARY", r"\x00ff", b"\x00\xff"),
        "date": ("DATE", "0001-01-01", date(1, 1, 1)),
        "timestamptz": ("TIMESTAMP", "2026-01-31 13:00:00.000005+01", at),
        "timestamp(6)": ("TIMESTAMP_NTZ", "2026-01-31 12:00:00.000005", at.replace(tzinfo=None)),
    }
    with all_cases() as case:
        for kind, (column, value, expected) in cases.items():
            with case(kind):
                service.make(f"v {kind}", rows=f"('a', {literal(value)}), ('b', NULL)")
                assert asked(service, f"v {column}") == [{"v": expected}, {"v": None}, None]


def test_a_value_that_the_column_does_not_hold_is_refused_and_not_changed(service: PostgresService) -> None:
    cases = {
        "numeric": ("DECIMAL(5,2)", "1.005", "Rescaling"),
        "numeric(10,2)": ("DECIMAL(10,2)", "NaN", "not a valid decimal"),
        "smallint": ("TINYINT", "128", "not in range"),
        "timestamptz": ("TIMESTAMP", "infinity", "a time is infinite"),
        "timestamp": ("TIMESTAMP_NTZ", "-infinity", "a time is infinite"),
        "date": ("DATE", "infinity", "a time is infinite"),
    }
    with all_cases() as case:
        for kind, (column, value, why) in cases.items():
            service.make(f"v {kind}", rows=f"('a', {literal(value)})")
            with case(kind), pytest.raises(UserCodeError, match=f'column "v".*{why}'):
                asked(service, f"v {column}")


def test_a_table_that_does_not_fit_is_told_with_its_mend(service: PostgresService) -> None:
    cases: dict[str, tuple[Row, str, str]] = {
        '"n" is bigint in "shop.Users", which .* are no INT; change columns': ({}, "n INT", "n bigint"),
        '"n" is text in "shop.Users", which may have': ({}, "n INT", "n text"),
        '"n" is numeric.10,3. in "shop.Users", which may have': ({}, "n DECIMAL(10,2)", "n numeric(10,3)"),
        'has no column "tier"; did you mean "tiers"?': ({}, "tier INT", "tiers int"),
        "no table or view .shop.Userz. in 127.0.0.1": ({"table": "shop.Userz"}, "n INT", "n int"),
        'has no column "id"': ({"keyColumn": "id"}, "n INT", "n int"),
        'keyColumn: "x" is real; name a column of text, ': ({"keyColumn": "x"}, "n INT", "n int, x real"),
        "has several rows of a key; name a": ({"keyColumn": "x"}, "n INT", "n int, x text DEFAULT 'a'"),
    }  # fmt: skip
    with all_cases() as case:
        for why, (service.more, columns, definition) in cases.items():
            service.make(definition, rows="('1'), ('2')")
            with case(why), pytest.raises(UserCodeError, match=why):
                asked(service, columns)


def test_missing_rights_and_logins_are_no_outage(service: PostgresService) -> None:
    service.make("n int")
    service.execute(
        "DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN", "GRANT USAGE ON SCHEMA shop TO guest"
    )
    for user, why in (("guest", "permission denied for table Users"), ("nobody", "url and passwordVariable")):
        service.more = {"url": f"postgresql://{user}@{service.server.address}/postgres"}
        with pytest.raises(UserCodeError, match=why):
            asked(service, "n INT")


def test_a_statement_that_takes_too_long_is_an_outage_and_ends_on_the_server(
    service: PostgresService,
) -> None:
    service.make("n int", rows="('a', 1)")
    service.execute("""CREATE VIEW shop.slow AS SELECT "user id", n FROM shop."Users", pg_sleep(60)""")
    service.more = {"table": "shop.slow"}
    with pytest.raises(RemoteSilentError):
        asked(service, "n INT", timeout=0.3)
    active = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%shop.slow%' AND state = 'active'"
    for _ in range(200):
        if service.server.execute(active + " AND pid <> pg_backend_pid()") == [(0,)]:
            return
        threading.Event().wait(0.05)
    raise AssertionError("the statement still runs")


def test_a_full_server_is_an_outage(service: PostgresService) -> None:
    service.make("n int")
    service.execute("CREATE ROLE plain LOGIN CONNECTION LIMIT 0")
    service.more = {"url": f"postgresql://plain@{service.server.address}/postgres"}
    with pytest.raises(RemoteSilentError, match="too many connections"):
        asked(service, "n INT")


def test_a_session_only_reads(service: PostgresService) -> None:
    service.make("n int", rows="('a', 1)")
    service.execute(
        "CREATE SEQUENCE shop.asked",
        """CREATE VIEW shop.counted AS SELECT "user id", nextval('shop.asked') AS n FROM shop."Users" """,
    )
    service.more = {"table": "shop.counted"}
    with pytest.raises(RemoteSilentError, match="read-only transaction"):
        asked(service, "n BIGINT")
