"""Settings of remote tables in few words."""

from typing import Any

from streamapp_runtime.remote.remote_settings import RemoteSettings

CLASSES = "tests.harness.user_code.remote_table_code"
COLUMNS = "price DOUBLE, name STRING"


def of(name: str, columns: str = COLUMNS, **more: Any) -> RemoteSettings:
    """The settings of a table that a class of these tests stands for."""
    python = name if ":" in name else f"{CLASSES}:{name}"
    return RemoteSettings("prices", columns, python, **more)
