"""Tables of Delta and Iceberg are read as every source is, by the version that was the newest."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from streamapp_runtime.driver.imports.table_import import ImportProgress
from streamapp_runtime.systems.stream_system import UnavailableError
from tests.harness.engine.imported_table import SourceTables
from tests.runtime.systems.sources.source_contract import Made, NullsContract, numbered


@dataclass(frozen=True, slots=True)
class DeltaFolder:
    """A folder of tables."""

    folder: Path

    @property
    def system(self) -> dict[str, Any]:
        return {"delta": {"path": str(self.folder)}}

    def write(self, table: str, rows: pa.Table) -> None:
        deltalake.write_deltalake(str(self.folder / table), rows, mode="overwrite")

    def version(self, table: str) -> str:
        return str(deltalake.DeltaTable(str(self.folder / table)).version())


@dataclass(frozen=True)
class Warehouse:
    """A warehouse in a folder, with a catalog in SQLite."""

    folder: Path

    @property
    def properties(self) -> dict[str, str]:
        uri = f"sqlite:///{self.folder}/catalog.db"
        return {"type": "sql", "uri": uri, "warehouse": f"file://{self.folder}/warehouse"}

    @property
    def system(self) -> dict[str, Any]:
        return {"iceberg": {"catalog": "lake", "namespace": "shop", "config": self.properties}}

    @cached_property
    def catalog(self) -> SqlCatalog:
        catalog = SqlCatalog("lake", **self.properties)
        catalog.create_namespace_if_not_exists("shop")
        return catalog

    def write(self, table: str, rows: pa.Table) -> None:
        lake = self.catalog.create_table_if_not_exists(("shop", table), rows.schema)
        write = lake.overwrite if lake.current_snapshot() else lake.append
        write(rows)

    def version(self, table: str) -> str:
        snapshot = self.catalog.load_table(("shop", table)).current_snapshot()
        return str(snapshot and snapshot.snapshot_id)


class LakesContract(NullsContract):
    def test_a_table_is_read_by_the_version_of_the_beginning_which_is_recorded(
        self, tables: DeltaFolder | Warehouse, made: Made
    ) -> None:
        tables.write("sales", numbered(60_000))
        version = tables.version("sales")

        def overwritten(progress: ImportProgress) -> None:
            if not progress.ended:
                tables.write("sales", numbered(3))

        app = made("id BIGINT")
        assert app.start(overwritten).version == version
        assert sorted(row["id"] for row in app.rows()) == list(range(60_000))

    def test_files_that_cannot_be_had_are_an_outage(
        self, tables: DeltaFolder | Warehouse, made: Made, tmp_path: Path
    ) -> None:
        tables.write("sales", numbered(3))
        moved = {path: path.with_suffix(".away") for path in tmp_path.rglob("*.parquet")}
        for path, elsewhere in moved.items():
            path.rename(elsewhere)
        app = made("id BIGINT")
        with pytest.raises(UnavailableError, match=r"sales: .*parquet"):
            app.start()
        for path, elsewhere in moved.items():
            elsewhere.rename(path)
        app.start()
        assert len(app.rows()) == 3


class TestDeltaSource(LakesContract):
    @pytest.fixture
    def tables(self, tmp_path: Path) -> SourceTables:
        return DeltaFolder(tmp_path / "lake")


class TestIcebergSource(LakesContract):
    @pytest.fixture
    def tables(self, tmp_path: Path) -> SourceTables:
        return Warehouse(tmp_path)
