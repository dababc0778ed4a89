"""A batch app of two logs, of which one goes before anything of it was read: its end is not reached."""

import json
import time
from contextlib import closing
from pathlib import Path

from streamapp.spec.parser import parse_data
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import storage_of
from streamapp_runtime.driver.start.launch import launch
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.expressions.spark_source import SparkJvm, SparkOnDemand
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.topic_partition import TopicPartition
from streamapp_runtime.testing.in_process_lanes import InProcessHosting
from tests.harness.core.app_resources import app_resource
from tests.harness.engine.record_values import texts, values, write
from tests.harness.runs.timed_streams import at, counting, events, sent

OUT = TopicPartition("out", 0)
ANSWER_SECONDS = 30.0


def _no_jvm(text: str) -> SparkJvm:
    raise AssertionError(f"nothing here needs Spark: {text}")


def test_a_turn_does_not_end_while_an_input_cannot_be_looked_at(tmp_path: Path) -> None:
    streams = [events() | {"name": "near"}, events() | {"name": "far", "system": "shop"}, {"name": "out"}]
    merged = {"name": "all", "merge": {"from": ["near", "far"]}}
    resource = app_resource([merged, counting("all"), sent("counted")], streams, mode="batch")
    logs = [{"name": name, "embedded": {"path": str(tmp_path / name)}} for name in ("main", "shop")]
    app = parse_data(resource | {"spec": resource["spec"] | {"systems": logs}}).apps[0]
    storage, spark = storage_of(app, None), SparkOnDemand(_no_jvm)
    with closing(Systems(storage.systems)) as systems:
        for stream in ("near", "far", "out"):
            systems.create(stream, 1)
        for system, topic, second in (("main", "near", 1), ("shop", "far", 2)):
            write(systems.open(system), TopicPartition(topic, 0), values(json.dumps(at(second))))
        ledger = CheckpointStream(systems.home, "app.checkpoint")
        context = AppContext(app, storage, systems, ledger, load_user_functions(app))
        ready = launch(context, spark, 1)
        systems._open.pop("shop").close()
        (tmp_path / "shop").rename(tmp_path / "kept")
        (tmp_path / "shop").write_text("no folder")
        hosting = InProcessHosting()
        loop = Loop(spark, CurrentRun.of(ready, batch_rows=100), hosting=hosting)
        loop.start()
        for _ in range(5):
            loop.step()
        assert [one.name for one in loop.backlog.answering.silent] == ["shop"]
        assert not loop.planner.ended
        assert loop.planner.behind
        (tmp_path / "shop").unlink()
        (tmp_path / "kept").rename(tmp_path / "shop")
        ends = time.monotonic() + ANSWER_SECONDS
        while not loop.planner.ended and time.monotonic() < ends:
            loop.step()
        loop.release()
        hosting.processes.close()
        assert [json.loads(text)["rows"] for text in texts(systems.home, OUT)] == [2]
