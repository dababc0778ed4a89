"""Drivers that are killed around their commits to tables: each row comes once, whichever is killed when."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import deltalake
import pytest
import yaml
from pyiceberg.catalog.sql import SqlCatalog

from streamapp_runtime.crash_points import VARIABLE
from tests.harness.machine.postgres_server import USER, PostgresServer

KILLS = ("sink.before", "sink.after", "delivery.before", "delivery.after")
DELTA: dict[str, Any] = {"delta": {"path": "lake", "createIfMissing": True, "commitInterval": "0s"}}


def _iceberg(folder: Path) -> dict[str, str]:
    return {
        "type": "sql",
        "uri": f"sqlite:///{folder}/catalog.db",
        "warehouse": f"file://{folder}/warehouse",
    }


def _app(tables: dict[str, Any], catalog: dict[str, str]) -> dict[str, Any]:
    iceberg = {"namespace": "shop", "config": catalog, "createIfMissing": True, "commitInterval": "0s"}
    columns = "id BIGINT, shop STRING"
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "orders"},
        "spec": {
            "systems": [
                {"name": "main", "embedded": {"path": "data"}},
                {"name": "database", **tables},
                {"name": "lake", **DELTA},
                {"name": "warehouse", "iceberg": iceberg},
            ],
            "streams": [
                {"name": "orders", "system": "main", "columns": columns},
                {"name": "sales", "system": "database", "columns": columns},
                {"name": "copies", "system": "lake", "columns": columns},
                {"name": "archive", "system": "warehouse", "columns": columns},
            ],
            "operators": [
                {"name": "sell", "sendTo": {"from": "orders", "stream": "sales"}},
                {"name": "copy", "sendTo": {"from": "orders", "stream": "copies"}},
                {"name": "keep", "sendTo": {"from": "orders", "stream": "archive"}},
            ],
        },
    }


@pytest.mark.long
@pytest.mark.usefixtures("process")
def test_rows_of_killed_drivers_are_in_a_database_and_in_lakes_once(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    settings = {"servers": postgres_server.address, "database": "postgres", "config": {"user": USER}}
    app = _app({"postgres": {**settings, "createIfMissing": True}}, _iceberg(tmp_path))
    (tmp_path / "app.yaml").write_text(yaml.safe_dump(app))
    points = tmp_path / "points"
    points.mkdir()
    written = 0
    for point in (*KILLS, None):
        rows = [json.dumps({"id": written + n, "shop": "a"}) for n in range(20)]
        written += len(rows)
        _streamapp(tmp_path, "log", "write", "app.yaml", "orders", "--partitions", "2", text="\n".join(rows))
        if point is not None:
            (points / point).touch()
        ended = _streamapp(tmp_path, "run", "app.yaml", "--until-end", points=points)
        assert ended == (0 if point is None else -signal.SIGKILL), point
    ids = range(written)
    assert Counter(n for (n,) in postgres_server.execute("SELECT id FROM sales")) == Counter(ids)

    copies = deltalake.DeltaTable(str(tmp_path / "lake" / "copies")).to_pyarrow_table()
    assert Counter(copies.column("id").to_pylist()) == Counter(ids)

    with closing(SqlCatalog("default", **_iceberg(tmp_path))) as catalog:
        archive = catalog.load_table("shop.archive").scan().to_arrow()
    assert Counter(archive.column("id").to_pylist()) == Counter(ids)


def _streamapp(folder: Path, *arguments: str, text: str = "", points: Path | None = None) -> int:
    command = [sys.executable, "-m", "streamapp", *arguments]
    environment = {**os.environ, VARIABLE: str(points)} if points else dict(os.environ)
    done = subprocess.run(
        command, cwd=folder, input=text, env=environment, text=True, capture_output=True, check=False
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stdout + done.stderr
    return done.returncode
