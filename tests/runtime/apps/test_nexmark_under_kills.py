"""Nexmark apps whose driver and lanes are killed around commits give the rows of SQL, each once."""

import subprocess
from contextlib import closing
from os import environ
from pathlib import Path
from signal import SIGKILL

import pyarrow as pa
import pytest
import yaml

from bench.app_runs import page_views
from bench.nexmark.answers import answers
from bench.nexmark.event_numbers import EventModel
from bench.nexmark.event_records import records
from bench.nexmark.nexmark_queries import FOLDER, QUERIES
from streamapp_runtime.crash_points import VARIABLE
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.runs.run_process import COMMAND

EVENTS = 20_000
MODEL = EventModel(rate=500)
BY_NIGHT = [pytest.param(name, marks=pytest.mark.nightly) for name in ("q5", "q11")]
POINTS = ("commit.before.processor-0", "driver.reported", "commit.after.processor-1")


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("name", ["q18", *BY_NIGHT])
def test_the_rows_of_a_query_are_those_of_sql_after_kills(name: str, tmp_path: Path) -> None:
    query, data, points = QUERIES[name], tmp_path / "data", tmp_path / "points"
    points.mkdir()
    with closing(EmbeddedSystem(data)) as log:
        for stream in query.inputs:
            page_views.to_log(log, stream, records(stream, 0, EVENTS, model=MODEL))
    (tmp_path / "app.yaml").write_text(yaml.safe_dump(query.to_the_end()), "utf-8")
    killed = run_and_kill(tmp_path, points)
    assert killed == len(POINTS)
    with answers(0, EVENTS, MODEL) as expected:
        differences = expected.differences(query, written(data, name))
        assert not differences, str(differences)


def run_and_kill(folder: Path, points: Path) -> int:
    """How many kills there were until the app came to its end: each is asked for after the one before."""
    asked_for = list(POINTS)
    process = started(folder, points)
    while True:
        if asked_for and not any(points.iterdir()):
            (points / asked_for.pop(0)).touch()
        try:
            status = process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        if status == 0:
            return len(POINTS) - len(asked_for) - len(list(points.iterdir()))
        assert status == -SIGKILL
        process = started(folder, points)


def started(folder: Path, points: Path) -> "subprocess.Popen[bytes]":
    command = [COMMAND, "run", folder / "app.yaml", "--data", folder / "data", "--processors", "2"]
    environment = {**environ, VARIABLE: str(points), "PYTHONPATH": str(FOLDER)}
    options = ["--batch-rows", "3000", "--until-end", "--quiet"]
    return subprocess.Popen([*command, *options], env=environment)


def written(data: Path, stream: str) -> pa.ChunkedArray:
    with closing(EmbeddedSystem(data)) as log:
        partitions = [TopicPartition(stream, index) for index in range(log.partitions(stream) or 0)]
        return pa.chunked_array(
            [
                batch.column("value")
                for partition, span in log.spans(partitions).items()
                for batch in log.read(partition, span.oldest, span.end)
            ],
            pa.binary(),
        )
