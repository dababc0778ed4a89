"""The migration pages have a row for each call and each key that a reader may come with."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs/guide"

DSL_CALLS = {
    "StreamsBuilder": "stream table globalTable addStateStore addGlobalStore",
    "KStream": "filter filterNot selectKey map mapValues flatMap flatMapValues print foreach peek split merge repartition to toTable "
    "groupBy groupByKey join leftJoin outerJoin process processValues",
    "KStream, in versions before 4.0": "branch through transform transformValues flatTransform flatTransformValues",
    "BranchedKStream": "branch defaultBranch noDefaultBranch",
    "KGroupedStream": "count reduce aggregate cogroup windowedBy",
    "TimeWindowedKStream": "emitStrategy",
    "KTable": "filter filterNot mapValues toStream suppress transformValues groupBy join leftJoin outerJoin queryableStoreName",
}
"""Public calls of Kafka Streams' DSL that take part in a topology, by class."""

DOCUMENTED_KEYS = [
    "job.intermediate.stream.partitions",
    "job.systemstreampartition.expansion.algorithm",
    "job.coordinator.monitor-partition-change",
    "local.store.dir",
    "stores.adstore.manager.factory",
    "stores.<store>.adstore.input",
    "stores.<store>.adstore.key.value.extractor.factory",
    "systems.<system>.streams.<stream>.samza.bootstrap",
    "systems.<system>.streams.<stream>.samza.reset.offset",
    "task.broadcast.inputs",
]
"""The configuration keys of the five design documents."""


def left_column(page: str) -> str:
    """The code in the first cells of the page's tables."""
    lines = (GUIDE / page).read_text("utf-8").splitlines()
    cells = [line.split(" | ")[0] for line in lines if line.startswith("| ")]
    return " ".join(code for cell in cells for code in re.findall(r"`([^`]+)`", cell))


@pytest.mark.parametrize("owner", DSL_CALLS)
def test_each_call_of_the_kafka_streams_dsl_has_a_counterpart_or_is_said_to_have_none(owner: str) -> None:
    page = left_column("from-kafka-streams.md")
    missing = [call for call in DSL_CALLS[owner].split() if not re.search(rf"(?<!\w){call}\b", page)]
    assert missing == []


def test_each_key_of_the_design_documents_has_a_counterpart() -> None:
    page = left_column("from-samza.md")
    assert [key for key in DOCUMENTED_KEYS if key not in page] == []
