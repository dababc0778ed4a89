"""The same answers from two processors, each an executor of its own."""

import subprocess
import sys
from pathlib import Path

import yaml

from streamapp_runtime.systems.embedded.log import EmbeddedSystem
from tests.engine.graphs.harness import Row, app, in_order, last_by_key, read_all, told, write_all

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, page STRING"}
ROWS: list[Row] = [{"user": f"u{i % 7}", "page": f"/p/{i % 4}"} for i in range(80)]


def test_two_processors_join_and_count_as_one_does(tmp_path: Path) -> None:
    made = app(
        {"name": "with", "joinTable": {"from": "events", "table": "tiers", "select": "user, page, tier"}},
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        {"name": "by-page", "partitionBy": {"from": "with", "key": "page"}},
        {
            "name": "counted",
            "aggregate": {"from": "by-page", "key": "page", "aggregates": "sum(tier) AS sum"},
        },
        {"name": "told", "sendTo": {"from": "counted", "stream": "sums"}},
        streams=[
            EVENTS,
            {"name": "users", "key": "user", "columns": "user STRING, tier INT"},
            {"name": "out"},
            {"name": "sums", "key": "page"},
        ],
        tables=[{"name": "tiers", "sideInputs": [{"stream": "users", "bootstrap": True}]}],
        processors=2,
    )
    document = made.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    identity = {"apiVersion": made.api_version, "kind": made.kind}
    (tmp_path / "app.yaml").write_text(yaml.safe_dump(document | identity), "utf-8")
    system = EmbeddedSystem(tmp_path / "data")
    try:
        write_all(system, "users", told([{"user": f"u{i}", "tier": i} for i in range(7)], "user"), 3)
        write_all(system, "events", told(ROWS, "user"), 3)
        command = [Path(sys.executable).with_name("streamapp"), "run", "app.yaml", "--until-end"]
        subprocess.run([*command, "--batch-rows", "30"], cwd=tmp_path, check=True, timeout=300)
        joined = [row | {"tier": int(row["user"][1:])} for row in ROWS]
        assert in_order([record.value for record in read_all(system, "out")]) == in_order(joined)
        sums = {f"/p/{i}": sum(row["tier"] for row in joined if row["page"] == f"/p/{i}") for i in range(4)}
        assert {key: value["sum"] for key, value in last_by_key(read_all(system, "sums")).items()} == sums
    finally:
        system.close()
