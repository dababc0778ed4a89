"""A batch app as people run it: on two processors, to its end, and once more."""

import subprocess
import sys
from pathlib import Path

import yaml

from streamapp_runtime.systems.embedded.log import EmbeddedSystem
from tests.engine.graphs.harness import app, read_all, told, write_all
from tests.engine.time.making import at, counting, events, sent

ROWS = [at(n, f"u{n % 7}", f"/{n % 3}") for n in range(40)]


def test_a_batch_app_on_two_processors_ends_with_0_and_a_summary_each_time(tmp_path: Path) -> None:
    made = app(
        {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 3}},
        counting("by-page", key="page"),
        sent("counted"),
        streams=[events(), {"name": "out", "key": "page"}],
        mode="batch",
        processors=2,
    )
    document = made.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    identity = {"apiVersion": made.api_version, "kind": made.kind}
    (tmp_path / "app.yaml").write_text(yaml.safe_dump(document | identity), "utf-8")
    system = EmbeddedSystem(tmp_path / "data")
    try:
        for part in (ROWS[:25], ROWS[25:]):
            write_all(system, "events", told(part, "user"), 4)
            command = [Path(sys.executable).with_name("streamapp"), "run", "app.yaml"]
            ended = subprocess.run(
                command, cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False
            )
            assert ended.returncode == 0, ended.stderr
            assert "rows in, " in ended.stderr.splitlines()[-1]
        last = {
            (row["page"], row["window_start"]): row["rows"]
            for row in (record.value for record in read_all(system, "out"))
        }
        assert sum(last.values()) == len(ROWS)
    finally:
        system.close()
