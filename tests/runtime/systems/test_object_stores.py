"""Files and tables in an object store, whose keys are in a Secret; a real S3 server has them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake.exceptions import TableNotFoundError
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError

from streamapp_runtime.systems.stream_system import DeniedError, FencedError, UnavailableError
from tests.harness.engine.imported_table import ImportedApp, reading_app
from tests.harness.engine.sink_outbox import Row, SinkOutbox, tables_app
from tests.harness.machine.s3_server import BUCKET, KEY, SECRET, S3Server, s3_server
from tests.runtime.systems.sinks.sink_contract import COLUMNS, all_rows, deliver_all, numbered

__all__ = ["s3_server"]
ENTRIES = {"name": "store-keys"}


def secret_folder(folder: Path, entries: Mapping[str, str]) -> Path:
    folder.mkdir()
    for name, value in entries.items():
        (folder / name).write_text(value)
    return folder


@dataclass(frozen=True, slots=True)
class DeltaInStore:
    """Delta tables by the client of delta-rs."""

    server: S3Server
    entries: Mapping[str, str]
    path: str

    @property
    def settings(self) -> dict[str, str]:
        return {"aws_region": "us-east-1", "aws_endpoint": self.server.url, "aws_allow_http": "true"}

    @property
    def system(self) -> dict[str, Any]:
        body = {"path": self.path, "config": self.settings, "configSecret": ENTRIES}
        return {"delta": {**body, "createIfMissing": True, "commitInterval": "0s"}}

    def rows(self, table: str) -> list[Row]:
        options = {**self.settings, **self.entries}
        try:
            delta = deltalake.DeltaTable(f"{self.path}/{table}", storage_options=options)
        except TableNotFoundError:
            return []
        rows: list[Row] = delta.to_pyarrow_table().to_pylist()
        return rows


@dataclass(frozen=True, slots=True)
class IcebergInStore:
    """Iceberg tables by pyarrow's client, with a catalog in a file."""

    server: S3Server
    entries: Mapping[str, str]
    path: str
    catalog: str

    @property
    def settings(self) -> dict[str, str]:
        store = {"s3.endpoint": self.server.url, "s3.region": "us-east-1"}
        return {"type": "sql", "uri": self.catalog, "warehouse": self.path, **store}

    @property
    def system(self) -> dict[str, Any]:
        body = {"catalog": "lake", "namespace": "shop", "config": self.settings, "configSecret": ENTRIES}
        return {"iceberg": {**body, "createIfMissing": True, "commitInterval": "0s"}}

    def rows(self, table: str) -> list[Row]:
        catalog = SqlCatalog("lake", **self.settings, **self.entries)
        try:
            rows: list[Row] = catalog.load_table(f"shop.{table}").scan().to_arrow().to_pylist()
        except NoSuchTableError:
            return []
        return rows


StoredTables = DeltaInStore | IcebergInStore
MakeOutbox = Callable[..., SinkOutbox]


@pytest.fixture(params=["delta", "iceberg"])
def tables(request: pytest.FixtureRequest, s3_server: S3Server, tmp_path: Path) -> StoredTables:
    path = f"s3://{BUCKET}/{tmp_path.name}"
    if request.param == "delta":
        entries = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET}
        return DeltaInStore(s3_server, entries, path)
    entries = {"s3.access-key-id": KEY, "s3.secret-access-key": SECRET}
    return IcebergInStore(s3_server, entries, path, f"sqlite:///{tmp_path}/catalog.db")


@pytest.fixture
def make_outbox(tmp_path: Path) -> Iterator[MakeOutbox]:
    outboxes: list[SinkOutbox] = []

    def make(tables: StoredTables, entries: Mapping[str, str] | None = None) -> SinkOutbox:
        secrets = secret_folder(tmp_path / "secrets", tables.entries if entries is None else entries)
        app = tables_app(tables.system, COLUMNS, "id", upserts=False)
        outboxes.append(SinkOutbox(tmp_path / "home", tables, app, secrets))
        return outboxes[-1]

    yield make
    for outbox in outboxes:
        outbox.close()


def test_rows_are_delivered_once_by_one_driver_after_another(
    tables: StoredTables, make_outbox: MakeOutbox
) -> None:
    outbox = make_outbox(tables)
    with closing(outbox.delivery()) as older, closing(outbox.delivery()) as newer:
        older.take_over()
        outbox.write(numbered(0, 3))
        deliver_all(older)
        newer.take_over()
        outbox.write(numbered(3, 2))
        with pytest.raises(FencedError):
            older.deliver()
        deliver_all(newer)
    assert sorted(outbox.rows(), key=str) == all_rows(5)


def test_a_wrong_key_is_told_without_it(tables: StoredTables, make_outbox: MakeOutbox) -> None:
    secret = next(name for name in tables.entries if "secret" in name)
    wrong = {**tables.entries, secret: "wrong-secret-text"}
    outbox = make_outbox(tables, wrong)
    with closing(outbox.delivery()) as delivery, pytest.raises(UnavailableError) as refused:
        delivery.take_over()
        outbox.write(numbered(0, 1))
        delivery.deliver()
    assert "wrong-secret-text" not in str(refused.value)


def files_app(server: S3Server, tmp_path: Path, secret: str) -> ImportedApp:
    address = f"127.0.0.1:{server.port}"
    config = {"endpoint_override": address, "scheme": "http", "region": "us-east-1"}
    files = {"path": f"s3://{BUCKET}/{tmp_path.name}", "format": "parquet", "config": config}
    secrets = secret_folder(tmp_path / "secrets", {"access_key": KEY, "secret_key": secret})
    app = reading_app({"files": {**files, "configSecret": ENTRIES}}, "id BIGINT", key="id")
    return ImportedApp(tmp_path / "home", app, secrets)


def test_files_are_read(s3_server: S3Server, tmp_path: Path) -> None:
    folder = s3_server.folder / tmp_path.name / "sales"
    folder.mkdir(parents=True)
    for part in range(3):
        pq.write_table(pa.table({"id": range(part * 10, part * 10 + 10)}), folder / f"part-{part}")
    with closing(files_app(s3_server, tmp_path, SECRET)) as app:
        app.start()
        assert sorted(row["id"] for row in app.rows()) == list(range(30))


def test_files_are_not_read_with_a_wrong_key(s3_server: S3Server, tmp_path: Path) -> None:
    app = files_app(s3_server, tmp_path, "wrong-secret-text")
    with closing(app), pytest.raises((DeniedError, UnavailableError)) as refused:
        app.start()
    assert "wrong-secret-text" not in str(refused.value)
