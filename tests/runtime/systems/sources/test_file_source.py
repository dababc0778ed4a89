"""Files of Parquet, CSV and JSON lines are read as every source is."""

import gzip
import json
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.systems.stream_system import UnavailableError
from tests.harness.engine.imported_table import ImportedApp, Row, reading_app
from tests.runtime.systems.sources.source_contract import (
    NamedContract,
    SourceContract,
    TypedContract,
    numbered,
    table,
)


@dataclass(frozen=True, slots=True)
class Files:
    """A folder of files, one for each table."""

    folder: Path
    format: str
    write_file: Callable[[pa.Table, Path], object]

    @property
    def system(self) -> dict[str, Any]:
        return {"files": {"path": str(self.folder), "format": self.format}}

    def write(self, table: str, rows: pa.Table, file: str = "part-0") -> None:
        (self.folder / table).mkdir(parents=True, exist_ok=True)
        self.write_file(rows, self.folder / table / file)


def write_parquet(rows: pa.Table, path: Path) -> None:
    pq.write_table(rows, path)


def write_csv(rows: pa.Table, path: Path) -> None:
    pyarrow.csv.write_csv(
        pa.Table.from_arrays([_as_text(one) for one in rows.columns], rows.column_names), path
    )


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_binary(column.type):
        return pa.array([value and b64encode(value).decode() for value in column.to_pylist()], pa.string())
    if pa.types.is_timestamp(column.type):
        return pc.strftime(column, f"%Y-%m-%dT%H:%M:%S{'Z' * bool(column.type.tz)}")
    return column


def write_json(rows: pa.Table, path: Path) -> None:
    lines = [json.dumps(row, default=_of_json) for row in rows.to_pylist()]
    path.write_text("".join(f"{line}\n" for line in lines))


def _of_json(value: object) -> str:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, date) else str(value)


class TestParquet(TypedContract):
    @pytest.fixture
    def tables(self, tmp_path: Path) -> Files:
        return Files(tmp_path / "files", "parquet", write_parquet)


class TestCsv(NamedContract):
    @pytest.fixture
    def tables(self, tmp_path: Path) -> Files:
        return Files(tmp_path / "files", "csv", write_csv)


class TestJson(SourceContract):
    @pytest.fixture
    def tables(self, tmp_path: Path) -> Files:
        return Files(tmp_path / "files", "json", write_json)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "files" / "sales" / "day=1").mkdir(parents=True)
    return tmp_path / "files"


def imported(folder: Path, form: str, columns: str, **files: Any) -> list[Row]:
    system = {"files": {"path": str(folder), "format": form, **files}}
    app = ImportedApp(folder.parent / "home", reading_app(system, columns, key="id"))
    with closing(app):
        app.start()
        return app.rows()


def test_all_files_of_a_folder_are_read_but_those_that_are_hidden(folder: Path) -> None:
    for name, first in (("b", 2), ("a", 1), ("day=1/c", 3), ("_SUCCESS", 9), (".part.crc", 9)):
        (folder / "sales" / name).write_text(f'{{"id": {first}}}\n')
    assert imported(folder, "json", "id BIGINT") == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_a_file_may_be_named_itself_and_be_packed(tmp_path: Path) -> None:
    (tmp_path / "sales.csv.gz").write_bytes(gzip.compress(b"id\n7\n"))
    system = {"files": {"path": str(tmp_path), "format": "csv"}}
    app = ImportedApp(tmp_path / "home", reading_app(system, "id BIGINT", topic="sales.csv.gz"))
    with closing(app):
        app.start()
        assert app.rows() == [{"id": 7}]


def test_what_is_no_row_of_the_columns_comes_as_a_bad_record(folder: Path) -> None:
    (folder / "sales" / "a").write_text("id,n\n1,2\n1,x\n,3\n07,1\n")
    assert imported(folder, "csv", "id BIGINT NOT NULL, n INT") == [
        {"id": 1, "n": 2},
        {"bad": b'{"id":1,"n":"x"}'},
        {"bad": b'{"id":null,"n":3}'},
        {"bad": b'{"id":"07","n":1}'},
    ]


def test_signs_of_csv_may_be_others(folder: Path) -> None:
    (folder / "sales" / "a").write_text("id;name\n1;'a;b'\n2;NULL\n3;'NULL'\n")
    signs = {"delimiter": ";", "quote": "'", "nullText": "NULL"}
    rows = imported(folder, "csv", "id BIGINT, name STRING", csv=signs)
    assert [row["name"] for row in rows] == ["a;b", None, "NULL"]


def test_a_later_file_with_other_columns_ends_the_run_and_is_named(folder: Path) -> None:
    write_parquet(numbered(3), folder / "sales" / "a")
    write_parquet(table(), folder / "sales" / "b")
    write_parquet(pa.table({"id": ["x"]}), folder / "sales" / "c")
    with pytest.raises(FinalFailureError, match=r'"in" cannot be imported: .*/sales/c: "id" is string'):
        imported(folder, "parquet", "id BIGINT")


def test_a_line_of_csv_with_another_number_of_fields_ends_the_run_and_its_file_is_named(folder: Path) -> None:
    (folder / "sales" / "a").write_text("id,n\n1,2\n1\n")
    with pytest.raises(FinalFailureError, match=r"/sales/a: CSV parse error: Row #3: Expected 2 columns"):
        imported(folder, "csv", "id BIGINT, n INT")


def test_nanoseconds_are_read_where_they_are_whole_microseconds(folder: Path) -> None:
    at = pa.array([1_000, 2_000], pa.timestamp("ns", "UTC"))
    write_parquet(pa.table({"id": at}), folder / "sales" / "a")
    assert len(imported(folder, "parquet", "id TIMESTAMP")) == 2
    finer = pa.array([1], pa.timestamp("ns", "UTC"))
    write_parquet(pa.table({"id": finer}), folder / "sales" / "c")
    system = {"files": {"path": str(folder), "format": "parquet"}}
    app = ImportedApp(folder.parent / "other", reading_app(system, "id TIMESTAMP"))
    with closing(app), pytest.raises(FinalFailureError, match=r'/sales/c: "id": .* would lose data'):
        app.start()


def test_parts_of_rows_come_from_parquet(folder: Path) -> None:
    rows = [{"id": 1, "tags": ["a", None], "place": {"x": 1, "y": "b"}, "by": [("k", 2)]}]
    types = [
        ("id", pa.int64()),
        ("tags", pa.list_(pa.string())),
        ("place", pa.struct([("x", pa.int32()), ("y", pa.string())])),
        ("by", pa.map_(pa.string(), pa.int64())),
    ]
    write_parquet(table(rows, types), folder / "sales" / "a")
    columns = "id BIGINT, tags ARRAY<STRING>, place STRUCT<x: BIGINT, y: STRING>, by MAP<STRING, BIGINT>"
    assert imported(folder, "parquet", columns) == rows


@pytest.mark.parametrize(
    ("form", "write_file"), [("parquet", write_parquet), ("csv", write_csv), ("json", write_json)]
)
def test_columns_that_files_lack_come_from_the_names_of_their_folders(
    tmp_path: Path, form: str, write_file: Callable[[pa.Table, Path], object]
) -> None:
    days = {
        "day=2026-01-31/shop=a%20%22b/n=7": 1,
        "day=2026-02-01/shop=__HIVE_DEFAULT_PARTITION__/n=-1": 2,
    }
    for name, first in days.items():
        (tmp_path / "files" / "sales" / name).mkdir(parents=True)
        write_file(pa.table({"id": [first]}), tmp_path / "files" / "sales" / name / "part-0")
    columns = "day DATE, id BIGINT, n INT, shop STRING"
    assert imported(tmp_path / "files", form, columns) == [
        {"day": date(2026, 1, 31), "id": 1, "n": 7, "shop": 'a "b'},
        {"day": date(2026, 2, 1), "id": 2, "n": -1, "shop": None},
    ]


def test_a_column_that_files_have_is_their_own(folder: Path) -> None:
    write_parquet(pa.table({"id": [1], "day": [2]}), folder / "sales" / "day=1" / "a")
    assert imported(folder, "parquet", "id BIGINT, day BIGINT") == [{"id": 1, "day": 2}]
    (folder / "lines" / "day=1").mkdir(parents=True)
    (folder / "lines" / "day=1" / "a").write_text('{"id": 1, "day": 2}\n{}\n')
    system = {"files": {"path": str(folder), "format": "json"}}
    app = ImportedApp(folder.parent / "other", reading_app(system, "id BIGINT, day INT", topic="lines"))
    with closing(app):
        app.start()
        assert app.rows() == [{"bad": b'{"day":1,"id": 1, "day": 2}'}, {"id": None, "day": 1}]


def test_a_folder_whose_name_is_no_value_of_the_column_is_named(folder: Path) -> None:
    write_parquet(numbered(1), folder / "sales" / "day=1" / "a")
    with pytest.raises(FinalFailureError, match=r'/sales/day=1/a: "day": .*1'):
        imported(folder, "parquet", "id BIGINT, day DATE")


@pytest.mark.parametrize("path", ["s3://nobody/exports", "abfss://nobody/exports"])
def test_wrong_settings_of_a_store_are_refused_without_their_values(tmp_path: Path, path: str) -> None:
    system = {"files": {"path": path, "format": "json", "config": {"regio": "hidden"}}}
    app = ImportedApp(tmp_path / "home", reading_app(system, "id BIGINT"))
    with (
        closing(app),
        pytest.raises(AppRefusedError, match=r"spec.streams\[0\].system: .* settings") as refused,
    ):
        app.start()
    assert "hidden" not in str(refused.value)


def test_a_file_that_is_deleted_meanwhile_is_an_outage(folder: Path) -> None:
    write_json(numbered(60_000), folder / "sales" / "a")
    write_json(numbered(3), folder / "sales" / "b")
    system = {"files": {"path": str(folder), "format": "json"}}
    app = ImportedApp(folder.parent / "home", reading_app(system, "id BIGINT"))
    with closing(app):
        with pytest.raises(UnavailableError, match=r"there is no file .*/sales/b any more"):
            app.start(lambda _: (folder / "sales" / "b").unlink(missing_ok=True))
        app.start()
        assert len(app.rows()) == 60_000
