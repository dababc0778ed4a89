"""An app that is killed while it refreshes a table: rows see the last version, and nothing of others."""

import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from streamapp_runtime.systems.connection import (
    Connection,
    EmbeddedConnection,
    KafkaConnection,
    open_system,
)
from streamapp_runtime.systems.stream_system import StreamSystem
from tests.harness.machine.processes import until
from tests.harness.runs.app_runs import Input, read_all, write_all
from tests.harness.runs.run_process import COMMAND, run_killed_at

KEYS = 90_000
"""So many that a version is more than one chunk."""
ORDERS, WAIT_SECONDS = 99, 60.0
POINTS = ("import.chunk", "refresh.imported", "import.chunk")


def _app(home: dict[str, Any], folder: Path, prefix: str) -> dict[str, Any]:
    orders = {"name": "orders", "system": "home", "topic": f"{prefix}orders", "key": "id"}
    prices = {"name": "prices", "system": "exports", "key": "id", "partitions": 2, "refresh": "1s"}
    joined = {"from": "orders", "table": "prices", "type": "left", "select": "id, n, version"}
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "priced"},
        "spec": {
            "applicationId": f"{prefix}priced",
            "systems": [
                {"name": "home", **home},
                {"name": "exports", "files": {"path": str(folder), "format": "csv"}},
            ],
            "streams": [
                {**orders, "columns": "id STRING, n INT"},
                {**prices, "columns": "id STRING, version INT"},
                {"name": "out", "system": "home", "topic": f"{prefix}out"},
            ],
            "tables": [{"name": "prices", "sideInputs": [{"stream": "prices", "bootstrap": True}]}],
            "operators": [
                {"name": "priced", "joinTable": joined},
                {"name": "send", "sendTo": {"from": "priced", "stream": "out"}},
            ],
        },
    }


@pytest.mark.usefixtures("process")
def test_versions_are_whole_in_an_embedded_log(tmp_path: Path) -> None:
    home = {"embedded": {"path": str(tmp_path / "data")}}
    _refresh_under_kills(home, EmbeddedConnection(str(tmp_path / "data")), tmp_path)


@pytest.mark.nightly
def test_versions_are_whole_on_kafka(kafka: str, tmp_path: Path) -> None:
    home = {"kafka": {"bootstrapServers": kafka}}
    _refresh_under_kills(home, KafkaConnection(kafka), tmp_path)


def _refresh_under_kills(home: dict[str, Any], connection: Connection, tmp_path: Path) -> None:
    """Version after version, each with another third of the keys missing; a run is killed within most."""
    prefix = f"t{uuid4().hex[:8]}."
    path, crashes, table = tmp_path / "app.yaml", tmp_path / "crashes", tmp_path / "files" / "prices"
    path.write_text(yaml.safe_dump(_app(home, table.parent, prefix)))
    table.parent.mkdir()
    with closing(open_system(connection)) as system:
        system.create(f"{prefix}orders", 2)
        command = [COMMAND, "run", path, "--processors", "1", "--data", tmp_path / "data"]
        _write_version(table, 0)
        run_killed_at([*command, "--until-end"], crashes, None)
        for version, point in enumerate(POINTS, start=1):
            _write_version(table, version)
            run_killed_at(command, crashes, point)
        last = len(POINTS) + 1
        _write_version(table, last)
        with subprocess.Popen(command) as running:
            try:
                until(lambda: _sees(system, prefix, last), WAIT_SECONDS)
            finally:
                running.terminate()


def _write_version(table: Path, version: int) -> None:
    """Write the table anew, at once for whoever lists its folder."""
    written = table.with_name("_written")
    rows = (f"{key},{version}\n" for key in range(KEYS) if key % 3 != version % 3)
    written.write_text("id,version\n" + "".join(rows))
    written.replace(table)


def _sees(system: StreamSystem, prefix: str, last: int) -> bool:
    """True if the next order of each key is joined with the last version; each task turns to it by itself."""
    seen = len(read_all(system, f"{prefix}out"))
    orders = [Input(str(key), {"id": str(key), "n": seen}) for key in range(ORDERS)]
    write_all(system, f"{prefix}orders", orders, 2)
    until(lambda: len(read_all(system, f"{prefix}out")) >= seen + ORDERS, WAIT_SECONDS)
    rows = [record.value for record in read_all(system, f"{prefix}out")]
    versions = {row["id"]: row["version"] for row in rows if row["n"] == seen}
    assert len(versions) == ORDERS
    return versions == {str(key): None if key % 3 == last % 3 else last for key in range(ORDERS)}
