"""A batch app that reads files and is killed while it imports them, and after: each row is read once."""

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
from tests.harness.runs.app_runs import read_all
from tests.harness.runs.run_process import COMMAND, run_killed_at

ROWS = 120_000
ALL = list(range(ROWS))
POINTS = ("import.chunk", "import.before", "import.chunk", "import.after")


def _app(home: dict[str, Any], folder: Path, prefix: str) -> dict[str, Any]:
    numbers = {"name": "numbers", "system": "exports", "key": "id", "columns": "id INT", "partitions": 3}
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "numbers"},
        "spec": {
            "applicationId": f"{prefix}numbers",
            "mode": "batch",
            "systems": [
                {"name": "home", **home},
                {"name": "exports", "files": {"path": str(folder), "format": "csv"}},
            ],
            "streams": [numbers, {"name": "out", "system": "home", "topic": f"{prefix}out"}],
            "operators": [{"name": "copy", "sendTo": {"from": "numbers", "stream": "out"}}],
        },
    }


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_rows_are_imported_once_into_an_embedded_log(tmp_path: Path) -> None:
    home = {"embedded": {"path": str(tmp_path / "data")}}
    assert _read_under_kills(home, EmbeddedConnection(str(tmp_path / "data")), tmp_path) == ALL


def test_rows_are_imported_once_into_kafka(kafka: str, tmp_path: Path) -> None:
    home = {"kafka": {"bootstrapServers": kafka}}
    assert _read_under_kills(home, KafkaConnection(kafka), tmp_path) == ALL


def _read_under_kills(home: dict[str, Any], connection: Connection, tmp_path: Path) -> list[int]:
    """The rows that the app has written in the end, one run being killed at each point."""
    prefix = f"t{uuid4().hex[:8]}."
    path, crashes = tmp_path / "app.yaml", tmp_path / "crashes"
    path.write_text(yaml.safe_dump(_app(home, tmp_path / "files", prefix)))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "numbers").write_text("id\n" + "".join(f"{n}\n" for n in range(ROWS)))
    command = [COMMAND, "run", path, "--processors", "1", "--data", tmp_path / "data"]
    for point in (*POINTS, None):
        run_killed_at(command, crashes, point)
    with closing(open_system(connection)) as system:
        return sorted(record.value["id"] for record in read_all(system, f"{prefix}out"))
