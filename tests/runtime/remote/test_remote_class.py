"""Which classes can stand for a remote table, told before anything is started."""

import pytest

from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.remote.remote_class import WrongColumnsError, check_remote_class
from tests.harness.engine.remote_table_settings import of

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
        ('{"passwordVariable": "NOT_SET_HERE"}', "n INT", 'no environment variable "NOT_SET_HERE"'),
        ('{"format": "hash"}', "n ARRAY<INT>", 'column "n" as list'),
    ],
)
def test_what_redis_cannot_be_asked_is_refused(options: str, columns: str, why: str) -> None:
    with pytest.raises(UserCodeError, match=why):
        check_remote_class(of(REDIS, columns, options=options))


def test_a_class_that_keeps_to_the_contract_is_taken() -> None:
    check_remote_class(of("Prices"))
    check_remote_class(of("Folder", "tier INT", options='{"path": "/tmp"}'))
    check_remote_class(of(REDIS, "n ARRAY<INT>", options='{"prefix": "user:"}'))
