"""Rows of tables, as the libraries of their formats read them for the examples' runner."""

from collections.abc import Iterator
from contextlib import chdir
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from examples.example_apps import app_of, example
from examples.example_data import json_row
from examples.example_tables import table_rows, table_system
from streamapp.spec.resource.systems import System

ROWS = [{"id": 7, "price": Decimal("12.30"), "at": datetime(2026, 1, 1, tzinfo=UTC)}]
SCHEMA = pa.schema({"id": pa.int64(), "price": pa.decimal128(10, 2), "at": pa.timestamp("us", "UTC")})


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    with chdir(tmp_path):
        yield tmp_path


def written(kind: str) -> dict[str, Any]:
    """A table with the rows; gives how a resource names its system."""
    rows = pa.Table.from_pylist(ROWS, SCHEMA)
    if kind == "delta":
        deltalake.write_deltalake("lake/products", rows)
        return {"path": "lake"}
    config = {"type": "sql", "uri": "sqlite:///catalog.db", "warehouse": "lake"}
    catalog = load_catalog("lake", **config)
    catalog.create_namespace("shop")
    catalog.create_table("shop.products", SCHEMA).append(rows)
    catalog.close()
    return {"namespace": "shop", "catalog": "lake", "config": config}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_rows_of_a_lake_are_read_from_the_folder_of_the_run(kind: str) -> None:
    system = System.model_validate({"name": "lake", kind: written(kind)})
    assert table_rows(system, "products") == ROWS


def test_a_row_is_compared_in_the_form_that_generators_have() -> None:
    (row,) = ROWS
    assert json_row({**row, "inner": row, "nothing": None}) == {
        "id": 7,
        "price": "12.30",
        "at": "2026-01-01T00:00:00.000000Z",
        "inner": {"id": 7, "price": "12.30", "at": "2026-01-01T00:00:00.000000Z"},
        "nothing": None,
    }


def test_a_stream_of_records_is_in_no_system_of_tables() -> None:
    app = app_of(example("hourly-revenue").folder / "app.yaml")
    assert table_system(app, "orders") is None
    assert table_system(app, "revenue") == app.spec.systems[1]
