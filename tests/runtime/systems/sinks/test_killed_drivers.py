"""Drivers that are killed around their commits to tables: each row comes once, whichever is killed when."""

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import deltalake
import pytest
import yaml
from pyiceberg.catalog.sql import SqlCatalog

from streamapp_runtime.crash_points import VARIABLE
from tests.harness.machine.left_out import leave_out
from tests.harness.machine.postgres_server import USER, PostgresServer
from tests.harness.machine.small_disk import NoDiskError, SmallDisk

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
        written += _write(tmp_path, written)
        if point is not None:
            (points / point).touch()
        ended = _streamapp(tmp_path, "run", "app.yaml", "--until-end", points=points)
        assert ended == (0 if point is None else -signal.SIGKILL), point
    _assert_once(range(written), tmp_path, postgres_server)


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_rows_come_once_through_fifty_kills_while_tables_are_slow_full_or_away(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    dice = random.Random(7)  # noqa: S311 - nothing here is secret
    postgres_server.execute("DROP TABLE IF EXISTS sales, streamapp_positions")
    settings = {"servers": postgres_server.address, "database": "postgres", "config": {"user": USER}}
    app = _app({"postgres": {**settings, "createIfMissing": True}}, _iceberg(tmp_path))
    (tmp_path / "app.yaml").write_text(yaml.safe_dump(app))
    try:
        disk = SmallDisk(tmp_path / "lake")
    except NoDiskError as lacking:
        leave_out(str(lacking))
    written, kills = 0, 0
    with closing(disk):
        while kills < 50:
            written += _write(tmp_path, written)
            with _trouble(dice.choice((None, None, "slow", "full", "away")), postgres_server, disk):
                kills += _killed_after(tmp_path, dice.uniform(2.5, 9))
        written += _write(tmp_path, written)
        assert _streamapp(tmp_path, "run", "app.yaml", "--until-end") == 0
        _assert_once(range(written), tmp_path, postgres_server)


@contextmanager
def _trouble(kind: str | None, server: PostgresServer, disk: SmallDisk) -> Iterator[None]:
    """Something that the app's tables suffer from meanwhile."""
    with ExitStack() as stack:
        if kind == "slow":
            stack.enter_context(server.held_up())
        elif kind == "full":
            disk.fill()
            stack.callback(disk.free)
        elif kind == "away":
            server.end()
            stack.callback(server.start)
        yield


def _write(folder: Path, first: int) -> int:
    """Twenty more orders, from this number on."""
    rows = [json.dumps({"id": first + n, "shop": "a"}) for n in range(20)]
    _streamapp(folder, "log", "write", "app.yaml", "orders", "--partitions", "2", text="\n".join(rows))
    return len(rows)


def _killed_after(folder: Path, seconds: float) -> bool:
    """Whether a run was killed after so long; it may have come to its end before."""
    command = [sys.executable, "-m", "streamapp", "run", "app.yaml", "--until-end"]
    with (folder / "run.log").open("a") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return True
    return False


def _assert_once(ids: range, folder: Path, server: PostgresServer) -> None:
    """Each order is in each table once."""
    assert Counter(n for (n,) in server.execute("SELECT id FROM sales")) == Counter(ids)

    copies = deltalake.DeltaTable(str(folder / "lake" / "copies")).to_pyarrow_table()
    assert Counter(copies.column("id").to_pylist()) == Counter(ids)

    with closing(SqlCatalog("default", **_iceberg(folder))) as catalog:
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
