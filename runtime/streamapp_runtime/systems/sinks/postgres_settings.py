"""The parameters of a connection to PostgreSQL, and the entries of its Secret."""

import atexit
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from streamapp.spec.resource.systems import POSTGRES_SECRETS
from streamapp_runtime.systems.secret_entries import secret_entries
from streamapp_runtime.systems.stream_system import InvalidSettingsError

_FILES: Final = ("sslcert", "sslkey", "sslrootcert")
"""Entries that libpq reads from files."""
_ADDRESS: Final = re.compile(r"(?:\[(?P<v6>[^]]+)\]|(?P<host>[^:\[\]]+))(?::(?P<port>\d+))?")
_PORT: Final = "5432"
_DEFAULTS: Final = {"application_name": "streamapp", "connect_timeout": "10", "keepalives_idle": "30"}


def connection_parameters(
    servers: str, database: str, settings: Mapping[str, str], secrets: str | None
) -> dict[str, str]:
    """The parameters by libpq's names; `secrets` is a folder, or a file of lines."""
    entries = secret_entries(Path(secrets)) if secrets else {}
    if unknown := len(entries.keys() - POSTGRES_SECRETS):
        are = "is no entry" if unknown == 1 else "are no entries"
        allowed = ", ".join(sorted(POSTGRES_SECRETS))
        raise InvalidSettingsError(
            f"{secrets}: {unknown} of its keys {are} of a database; there are {allowed}"
        )
    addresses = [_address(text.strip()) for text in servers.split(",")]
    return {
        **_DEFAULTS,
        **settings,
        **{name: _file(name, value) if name in _FILES else value for name, value in entries.items()},
        "host": ",".join(host for host, _ in addresses),
        "port": ",".join(port for _, port in addresses),
        "dbname": database,
    }


def _address(text: str) -> tuple[str, str]:
    """Host and port; an address of IPv6 stands in brackets."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise InvalidSettingsError(f"servers: {text} is not like host:port")
    return match["v6"] or match["host"], match["port"] or _PORT


def _file(name: str, content: str) -> str:
    """A file for this user alone, as libpq wants it of keys; it goes when the process ends."""
    handle, path = tempfile.mkstemp(prefix=f"streamapp-{name}-")
    atexit.register(Path(path).unlink, missing_ok=True)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"{content}\n")
    return path
