"""Nexmark queries by Kafka Streams, Spark and Flink, over the topics that the apps read.

All write exactly once but Spark, whose sink for Kafka does so at least once. State is in RocksDB. Each has
two threads, in one process.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pyarrow as pa

from bench.kafka.fetched import classes, spark
from bench.kafka.others import COMMIT_MS, Progress, told_by
from bench.kafka.topics import committed, create, newest
from bench.nexmark.answers import Answers, RowDifferences
from bench.nexmark.nexmark_queries import NexmarkQuery
from bench.nexmark.peer_queries import OF_FLINK, OF_SPARK, OF_STREAMS, PeerQuery
from bench.nexmark.query_runs import EVENTS, rate_row
from bench.row import Aim, Compared, Row

STATELESS: Final = ("q0", "q1", "q2", "q14", "q21", "q22")
SPARK_BATCH: Final = max(EVENTS // 10, 10_000)
EVENT_STREAMS: Final = ("person", "auction", "bid")


@dataclass(frozen=True, slots=True)
class Source:
    """The topics of a cluster, the records of each, and a folder for what peers keep."""

    brokers: str
    counts: Mapping[str, int]
    folder: Path

    def events(self, query: NexmarkQuery) -> int:
        """The records that are read as a stream; a side input is a table."""
        return sum(self.counts[stream] for stream in query.inputs if stream in EVENT_STREAMS)


@dataclass(frozen=True, slots=True)
class PeerRun:
    """A query that a peer is asked, and the topic of its answer."""

    query: NexmarkQuery
    asked: PeerQuery
    source: Source
    out: str

    @property
    def sql(self) -> str:
        """The statement of the query."""
        return self.asked.sql or self.query.sql

    @property
    def brokers(self) -> str:
        """The cluster."""
        return self.source.brokers

    @property
    def folder(self) -> Path:
        """The folder of this run alone."""
        return self.source.folder / self.out


@dataclass(frozen=True, slots=True)
class Peer:
    """What the apps are compared with."""

    name: str
    prefix: str
    queries: Mapping[str, PeerQuery]
    run: Callable[[PeerRun], list[Progress]]
    aim: float | None = None
    stateless_aim: float | None = None

    def aim_of(self, query: str) -> Aim | None:
        """The CPU seconds that it is to take for each of ours, at least."""
        least = self.stateless_aim if query in STATELESS else self.aim
        return None if least is None else Aim(least=least)


def peer_rows(peer: Peer, query: NexmarkQuery, source: Source, expected: Answers, ours: Row) -> Iterator[Row]:
    """The rate of a peer beside that of the app, once its answer is that of SQL."""
    told, differences = peer_answer(peer, query, source, expected)
    if differences or not differences.written:
        raise AssertionError(f"{peer.name}, {query.name}: {differences}")
    if told[-1].rows < source.events(query):
        raise AssertionError(f"{peer.name}, {query.name}: its progress ends at {told[-1].rows:,} rows")
    count = sum(source.counts[stream] for stream in query.inputs)
    theirs = rate_row(f"  {peer.name}", told, count, differences.written)
    yield replace(theirs, compared=Compared("StreamApp", ours.figure))
    ratio = ours.figure / theirs.figure
    yield Row("    CPU seconds that it takes for each of ours", ratio, "x", peer.aim_of(query.name))


def peer_answer(
    peer: Peer, query: NexmarkQuery, source: Source, expected: Answers
) -> tuple[list[Progress], RowDifferences]:
    """The progress of a peer, and its rows beside those of SQL."""
    asked, out = peer.queries[query.name], f"{peer.prefix}-{query.name}"
    create(source.brokers, out)
    told = peer.run(PeerRun(query, asked, source, out))
    if asked.key:
        batches = [newest(source.brokers, out)]
    else:
        batches = [batch.column("value") for batch in committed(source.brokers, out)]
    written = pa.chunked_array(batches, pa.binary())
    return told, expected.differences(replace(query, updated_by=""), written, asked.closed)


def _by_streams(run: PeerRun) -> list[Progress]:
    commit, count = COMMIT_MS["exactly_once_v2"], run.source.events(run.query)
    given = (run.query.name, run.brokers, run.out, run.folder, commit, count)
    return told_by(["java", "-Xmx1g", "-cp", classes("streams"), "NexmarkStreams", *map(str, given)])


def _by_spark(run: PeerRun) -> list[Progress]:
    python, jars = spark()
    columns = json.dumps(run.query.columns)
    given = (run.sql, run.asked.key, columns, run.brokers, run.out, str(SPARK_BATCH), str(run.folder), jars)
    return told_by([str(python), "-m", "bench.nexmark.spark_query", *given], added=True)


def _by_flink(run: PeerRun) -> list[Progress]:
    run.folder.mkdir()
    script = run.folder / "statements.sql"
    sources = (_source(run.brokers, stream, columns) for stream, columns in run.query.columns.items())
    statements = ";\n".join((*sources, _sink(run)))
    script.write_text(re.sub(r"\bdateTime\b", "`dateTime`", statements), "utf-8")  # a keyword of Flink's
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.lang", "java.util", "java.time")]
    command = ["java", "-Xmx2g", *opened, "-cp", classes("flink"), "FlinkStatements"]
    return told_by([*command, str(script), str(run.folder)])


def _source(brokers: str, stream: str, columns: str) -> str:
    """A topic as a table, to the end that it has now."""
    types = {
        "BIGINT": "BIGINT NOT NULL",
        "STRING": "STRING NOT NULL",
        "TIMESTAMP": "TIMESTAMP_LTZ(3) NOT NULL",
    }
    declared = re.sub("|".join(types), lambda found: types[found[0]], columns)
    watermark = ", WATERMARK FOR dateTime AS dateTime - INTERVAL '4' SECOND" if "dateTime" in columns else ""
    return f"""CREATE TABLE {stream} ({declared}{watermark}) WITH (
  'connector' = 'kafka', 'topic' = '{stream}', 'properties.bootstrap.servers' = '{brokers}',
  'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset',
  'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601')"""


def _sink(run: PeerRun) -> str:
    """The answer as a topic, of updates where it has a key."""
    key = run.asked.key
    columns, kind = (
        (f"(PRIMARY KEY ({_quoted(key)}) NOT ENFORCED) ", "upsert-kafka") if key else ("", "kafka")
    )
    formats = "'key.format' = 'json', " if key else ""
    return f"""CREATE TABLE answer {columns}WITH (
  'connector' = '{kind}', 'topic' = '{run.out}', 'properties.bootstrap.servers' = '{run.brokers}',
  'properties.transaction.timeout.ms' = '600000',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{run.out}',
  {formats}'value.format' = 'json', 'value.json.timestamp-format.standard' = 'ISO-8601',
  'value.json.encode.decimal-as-plain-number' = 'true') AS
{run.sql}"""


def _quoted(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


PEERS: Final[Collection[Peer]] = (
    Peer("Kafka Streams", "streams", OF_STREAMS, _by_streams, 4, 4),
    Peer("Spark", "spark", OF_SPARK, _by_spark),
    Peer("Flink", "flink", OF_FLINK, _by_flink, 3, 5),
)
