"""Sessions of PostgreSQL are set up by what the resource and its Secret say."""

import stat
from pathlib import Path

import pytest

from streamapp_runtime.systems.sinks.postgres_settings import connection_parameters
from streamapp_runtime.systems.stream_system import InvalidSettingsError


@pytest.mark.parametrize(
    ("servers", "host", "port"),
    [
        ("db:5433", "db", "5433"),
        ("db", "db", "5432"),
        ("one:1, two:2,three", "one,two,three", "1,2,5432"),
        ("[::1]:5433", "::1", "5433"),
    ],
)
def test_servers_are_hosts_and_ports(servers: str, host: str, port: str) -> None:
    parameters = connection_parameters(servers, "shop", {"sslmode": "require"}, None)
    assert {name: parameters[name] for name in ("host", "port", "dbname", "sslmode")} == {
        "host": host,
        "port": port,
        "dbname": "shop",
        "sslmode": "require",
    }


def test_a_secret_has_the_login_and_certificates_which_become_files_of_this_user(tmp_path: Path) -> None:
    for name, value in {"user": "app\n", "password": "secret", "sslkey": "-----KEY-----"}.items():
        (tmp_path / name).write_text(value)
    parameters = connection_parameters("db", "shop", {"user": "other"}, str(tmp_path))
    assert (parameters["user"], parameters["password"]) == ("app", "secret")
    key = Path(parameters["sslkey"])
    assert (key.read_text(), stat.S_IMODE(key.stat().st_mode)) == ("-----KEY-----\n", 0o600)
    key.unlink()


def test_an_entry_that_no_database_has_is_refused_and_not_named(tmp_path: Path) -> None:
    (tmp_path / "hunter2").write_text("x")
    with pytest.raises(
        InvalidSettingsError, match="1 of its keys is no entry of a database; there are password,"
    ) as refused:
        connection_parameters("db", "shop", {}, str(tmp_path))
    assert "hunter2" not in str(refused.value)
