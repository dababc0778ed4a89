"""Which classes can stand for a remote table, told before anything is started."""

import json
import re

import pytest

from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.remote.remote_class import WrongColumnsError, check_remote_class
from tests.harness.engine.remote_table_settings import of

HTTP = "streamapp_runtime.remote.http:HttpTable"
POSTGRES = "streamapp_runtime.remote.postgres:PostgresTable"
REDIS = "streamapp_runtime.remote.redis:RedisTable"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Absent", "has no attribute 'Absent'"),
        ("PRICES", "is neither a class nor a function"),
        ("function", "is no class"),
        ("WantsArguments", "has a constructor that wants arguments"),
        ("WithoutGetMany", r"has no get_many\(keys\)"),
        ("OfOneKey", r"has another get_many than get_many\(keys\)"),
        ("OpenedWithoutConfig", r"has another open than open\(config\)"),
        ("UnavailableByName", "is no tuple of exceptions"),
        ("Folder", 'no column "price"; its columns are tier'),
    ],
)
def test_a_class_that_cannot_stand_for_the_table_is_refused(name: str, why: str) -> None:
    with pytest.raises(UserCodeError, match=why):
        check_remote_class(of(name))


def test_a_class_that_gives_a_column_of_another_type_is_refused() -> None:
    with pytest.raises(WrongColumnsError, match='gives column "tier" as int32, and it is string'):
        check_remote_class(of("Folder", "tier STRING"))


def test_a_class_may_refuse_its_options() -> None:
    with pytest.raises(UserCodeError, match="no option path"):
        check_remote_class(of("Folder", "tier INT"))


@pytest.mark.parametrize(
    ("options", "columns", "why"),
    [
        ('{"urll": "redis://a"}', "n INT", 'no option "urll"; did you mean "url"?'),
        ('{"prefix": 1}', "n INT", 'option "prefix" has to be a text'),
        ('{"format": "csv"}', "n INT", "allowed are json and hash"),
        ('{"url": "http://cache"}', "n INT", "Redis URL must specify"),
        ('{"url": "redis://:word@cache"}', "n INT", "has a password; put it into an environment variable"),
        ('{"passwordVariable": "NOT_SET_HERE"}', "n INT", 'no environment variable "NOT_SET_HERE"'),
        ('{"format": "hash"}', "n ARRAY<INT>", 'column "n" as list'),
    ],
)
def test_what_redis_cannot_be_asked_is_refused(options: str, columns: str, why: str) -> None:
    with pytest.raises(UserCodeError, match=why):
        check_remote_class(of(REDIS, columns, options=options))


URL = "postgresql://app@db:5432/shop"
TABLE = {"url": URL, "table": "sales.prices", "keyColumn": "id"}


@pytest.mark.parametrize(
    ("more", "columns", "why"),
    [
        ({"tabel": "prices"}, "n INT", 'no option "tabel"; did you mean "table"?'),
        ({"table": ""}, "n INT", 'option "table" is missing'),
        ({"table": "a.b.c"}, "n INT", "write a name, or schema.table"),
        ({"url": "postgresql://app:word@db/shop"}, "n INT", "and name that in passwordVariable"),
        ({"url": f"{URL}?password=word"}, "n INT", "and name that in passwordVariable"),
        ({"url": f"{URL}?sslmod=require"}, "n INT", 'no parameter "sslmod"; did you mean "sslmode"?'),
        ({"url": "postgresql://db"}, "n INT", "write postgresql://user@host:port/database"),
        ({"url": "postgresql://db:x/shop"}, "n INT", "db:x is not like host:port"),
        ({"passwordVariable": "NOT_SET_HERE"}, "n INT", 'no environment variable "NOT_SET_HERE"'),
        ({}, "n ARRAY<INT>", 'column "n" is ARRAY<INT>, which a table of PostgreSQL does not have'),
    ],
)
def test_what_postgresql_cannot_be_asked_is_refused(more: dict[str, str], columns: str, why: str) -> None:
    with pytest.raises(UserCodeError, match=re.escape(why)) as caught:
        check_remote_class(of(POSTGRES, columns, options=json.dumps(TABLE | more)))
    assert "word@" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, 'option "url" is missing'),
        ({"url": "prices/many"}, "write https://host/path"),
        ({"url": "ftp://prices/many"}, "write https://host/path"),
        ({"url": "https://app@prices/many"}, "write https://host/path"),
        ({"url": "https://prices/so many"}, "write https://host/path"),
        ({"url": "https://prices:http/many"}, "Port could not be cast to integer value"),
        ({"url": "https://app:word@prices/many"}, "and name that in tokenVariable"),
        ({"url": "https://a", "headers": {"authorization": "word"}}, '"authorization" is a secret; name its'),
        ({"url": "https://a", "headers": "X-Tenant: shop"}, '"headers" has to be an object of texts'),
        ({"url": "https://a", "headers": {"X-Tenant": 1}}, '"headers" has to be an object of texts'),
        ({"url": "https://a", "tokenVariable": "NOT_SET_HERE"}, 'no environment variable "NOT_SET_HERE"'),
        ({"url": "https://a", "tokenVariable": "BROKEN_TOKEN"}, "take line breaks out of it"),
        ({"url": "https://a", "caFile": "/not/there.pem"}, "no certificates are in /not/there.pem"),
    ],
)
def test_what_a_service_cannot_be_asked_is_refused(
    options: dict[str, object], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKEN_TOKEN", "word\n")
    with pytest.raises(UserCodeError, match=re.escape(why)) as caught:
        check_remote_class(of(HTTP, "n INT", options=json.dumps(options)))
    assert "word@" not in str(caught.value)


def test_a_class_that_keeps_to_the_contract_is_taken() -> None:
    check_remote_class(of("Prices"))
    check_remote_class(of("Folder", "tier INT", options='{"path": "/tmp"}'))
    check_remote_class(of(REDIS, "n ARRAY<INT>", options='{"prefix": "user:"}'))
    url = "postgresql://app@a:5432,b/shop?sslmode=verify-full&sslrootcert=/etc/ca.pem"
    check_remote_class(of(POSTGRES, options=json.dumps(TABLE | {"url": url})))
    check_remote_class(of(HTTP, "n ARRAY<INT>", options='{"url": "http://prices:8080/many?of=all"}'))
