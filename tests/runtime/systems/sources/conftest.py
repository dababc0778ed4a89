"""The fixtures of sources: a PostgreSQL server, and apps that read the table of a source."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.engine.imported_table import ImportedApp, SourceTables, reading_app
from tests.harness.machine.postgres_server import postgres_server
from tests.runtime.systems.sources.source_contract import COLUMNS

__all__ = ["postgres_server"]


@pytest.fixture
def made(tmp_path: Path, tables: SourceTables) -> Iterator[Callable[..., ImportedApp]]:
    """Makes apps that read the table with these columns, all of one home."""
    apps: list[ImportedApp] = []

    def make(columns: str = COLUMNS, **stream: Any) -> ImportedApp:
        apps.append(ImportedApp(tmp_path / "home", reading_app(tables.system, columns, **stream)))
        return apps[-1]

    yield make
    for app in apps:
        app.close()
