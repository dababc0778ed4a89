"""One lane of four that has ten times the work: how long the rows of the other three take.

Each lane waits for every row, as it would for a service that it asks; so the machine's cores are not what is
measured. In lock-step all lanes wait for the slowest in every batch. Lanes that do not wait for each other
are slowed by it as far as it keeps the cores: behind a `partitionBy`, each reads what all of them wrote.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.app_runs.runs import REPOSITORY, run_app
from bench.row import Aim, Compared, Row
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition

LANES = 4
SLOW = 0  # the partition
EACH = 8_000  # rows of a partition
BATCH = 1_000
ROW_SECONDS = 40e-6
TIMES = 10
WORK = "bench.engine.slow_lane:work"

_APP = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {{name: measured, namespace: bench}}
spec:
  applicationId: bench.measured
  processors: 1
  batch: {{independentLanes: {independent}}}
  systems: [{{name: main, embedded: {{path: data}}}}]
  streams:
    - {{name: views, system: main, key: user, columns: "user STRING, page STRING, slow BOOLEAN"}}
    - {{name: out, system: main, key: {key}}}
  operators:
    - name: worked
      map: {{from: views, python: "{work}", columns: "user STRING, page STRING, slow BOOLEAN"}}
    {behind}
    - {{name: written, sendTo: {{from: {last}, stream: out}}}}
"""
_BEHIND = "- {name: by-page, partitionBy: {from: worked, key: page}}"


def work(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Wait for each row, and ten times as long where it is slow."""
    slow_rows = batch["slow"].true_count
    time.sleep(ROW_SECONDS * (len(batch) + (TIMES - 1) * slow_rows))
    return batch.select(["user", "page", "slow"])


def rows() -> Iterator[Row]:
    """Without and with a `partitionBy` behind the work, in lock-step and not."""
    for name, app in (
        ("one stage", partial(_APP.format, key="user", work=WORK, behind="", last="worked")),
        ("a partitionBy behind", partial(_APP.format, key="page", work=WORK, behind=_BEHIND, last="by-page")),
    ):
        together = _seconds(app(independent="false"))
        yield Row(f"{name}, in lock-step: rows of the others", together, "s")
        compared = Compared("lock-step", together)
        alone = _seconds(app(independent="true"))
        yield Row(f"{name}, independent: rows of the others", alone, "s", compared=compared)
        yield Row("  of lock-step", alone / together, "x", Aim(most=0.6))


def _seconds(app: str) -> float:
    """From the first row that is written to the last one of the lanes that are not slow."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        log = EmbeddedSystem(data)
        log.create("views", LANES)
        log.create("out", LANES)
        for partition in range(LANES):
            _write(log, partition)
        log.close()
        run_app(app, data, rows=BATCH, processors=LANES, environment={"PYTHONPATH": str(REPOSITORY)})
        log = EmbeddedSystem(data)
        written = [_written(log, TopicPartition("out", index)) for index in range(LANES)]
        log.close()
    times, slow = (np.concatenate(parts) for parts in zip(*written, strict=True))
    return float(times[~slow].max() - times.min()) / 1e3


def _write(log: EmbeddedSystem, partition: int) -> None:
    """The rows of users that are in a partition."""
    names = pa.array([f"user-{n}" for n in range(2 * EACH * LANES)])
    own = names.filter(pa.array(partition_of(names.cast(pa.binary()), LANES) == partition))[:EACH]
    slow = json.dumps(partition == SLOW)
    values = [
        f'{{"user":"{user}","page":"/p/{n % 97}","slow":{slow}}}' for n, user in enumerate(own.to_pylist())
    ]
    columns = [own.cast(pa.binary()), pa.array(values).cast(pa.binary()), pa.nulls(EACH, pa.int64())]
    transaction = log.begin("bench.checkpoint", 0)
    transaction.append(TopicPartition("views", partition), pa.record_batch(columns, schema=RECORDS))
    transaction.commit()


def _written(log: EmbeddedSystem, partition: TopicPartition) -> tuple[np.ndarray, np.ndarray]:
    """When each row of a partition was written, in milliseconds, and whether it is of the slow lane."""
    span = log.spans([partition])[partition]
    records = pa.Table.from_batches(list(log.read(partition, span.oldest, span.end)))
    slow = np.array([json.loads(value)["slow"] for value in records["value"].to_pylist()], bool)
    return records["timestamp"].to_numpy(), slow
