"""A sink of the app's own does as every sink does: the one of the page is run."""

import re
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamapp_runtime.systems.connection import PythonConnection, open_sink
from streamapp_runtime.systems.sinks.sink import SinkTable
from streamapp_runtime.systems.stream_system import InvalidSettingsError, RecordRefusedError, UnavailableError
from tests.harness.engine.sink_outbox import Row, SinkOutbox, tables_app
from tests.runtime.systems.sinks.sink_contract import COLUMNS, SinkContract, numbered

PAGE = (Path(__file__).parents[4] / "docs" / "guide" / "own-sink.md").read_text("utf-8")


@dataclass(slots=True)
class SqliteTables:
    """The tables of a file."""

    file: Path

    @property
    def system(self) -> dict[str, Any]:
        config = {"file": str(self.file)}
        return {"python": {"sink": "sqlite_sink:SqliteSink", "config": config, "createIfMissing": True}}

    def rows(self, table: str) -> list[Row]:
        with closing(sqlite3.connect(self.file)) as connection:
            connection.row_factory = sqlite3.Row
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [table]).fetchall():
                return []
            return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]

    def write_as_another(self, table: str, row: Row) -> None:
        with closing(sqlite3.connect(self.file)) as connection, connection:
            signs = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({signs})", list(row.values()))


@pytest.fixture(autouse=True)
def sqlite_sink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r'^```python title="sqlite_sink.py"\n(.*?)^```$', PAGE, re.M | re.S)
    (tmp_path / "sqlite_sink.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sqlite_sink", raising=False)


@pytest.fixture
def tables(tmp_path: Path) -> SqliteTables:
    return SqliteTables(tmp_path / "shop.db")


class TestSinkOfThePage(SinkContract):
    pass


@pytest.mark.parametrize(
    ("sink", "settings", "says"),
    [
        ("no_such:Sink", {}, "no_such:Sink cannot be loaded: No module named 'no_such'; look whether"),
        ("sqlite_sink:Sink", {}, "sqlite_sink:Sink cannot be loaded: module 'sqlite_sink' has no attribute"),
        ("sqlite_sink:quoted", {}, "sqlite_sink:quoted has no prepare, numbers, commit, close; a sink has"),
        ("sqlite_sink:SqliteSink", {}, "sqlite_sink:SqliteSink asks for 'file'; say it in config, or in the"),
    ],
)
def test_a_class_that_makes_no_sink_is_refused_in_one_line(
    sink: str, settings: dict[str, str], says: str
) -> None:
    with pytest.raises(InvalidSettingsError, match=re.escape(says)) as refused:
        open_sink(PythonConnection(sink, settings))
    assert "\n" not in str(refused.value)


def test_entries_of_the_secret_are_settings_too(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "file").write_text(str(tmp_path / "shop.db"))
    connection = PythonConnection("sqlite_sink:SqliteSink", {}, str(tmp_path / "secrets"))
    with closing(open_sink(connection)) as sink:
        assert sink.prepare(SinkTable("sales", (), pa.schema([]))) == (
            'there is no table "sales"; say createIfMissing: true',
        )


def test_rows_wait_for_a_system_that_is_unavailable_and_any_other_error_ends_the_run(
    tmp_path: Path, tables: SqliteTables
) -> None:
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, COLUMNS, "id", upserts=False))
    with closing(made.delivery()) as delivery:
        delivery.take_over()
        made.write(numbered(0, 1))
        with closing(sqlite3.connect(tables.file)) as other:
            other.execute("ALTER TABLE sales RENAME TO hidden")
        with pytest.raises(UnavailableError, match="sqlite_sink:SqliteSink: no such table: sales"):
            delivery.deliver()
        delivery.give_up("unavailable")
        with closing(sqlite3.connect(tables.file)) as other:
            other.execute("CREATE TABLE sales (id UNIQUE, shop NOT NULL)")
        made.write([("1", {"id": 1, "shop": None})])
        with pytest.raises(RecordRefusedError, match="SqliteSink: IntegrityError: NOT NULL constraint"):
            delivery.deliver()
    made.close()
    assert tables.rows("sales") == []
