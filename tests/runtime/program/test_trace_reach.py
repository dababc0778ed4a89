"""Which streams are read and written with headers of traces."""

from pyspark.sql import SparkSession

from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from tests.harness.engine.compiled_apps import app, program_of

NO_HEADERS = "CAST(NULL AS MAP<STRING, BINARY>)"


def test_streams_have_them_whose_rows_come_to_an_output_that_does_not_say_its_headers(
    spark: SparkSession,
) -> None:
    program = program_of(
        spark,
        app(
            {"name": "by-page", "partitionBy": {"from": "views", "key": "page"}},
            {"name": "by-n", "partitionBy": {"from": "by-page", "key": "n"}},
            {"name": "by-tier", "partitionBy": {"from": "users", "key": "tier"}},
            {"name": "passed", "sendTo": {"from": "by-n", "stream": "out"}},
            {"name": "said", "sendTo": {"from": "by-tier", "stream": "out", "headers": NO_HEADERS}},
            tables=[{"name": "known", "sideInputs": [{"stream": "views"}]}],
        ),
    )
    streams = [task.operation for task in program.tasks if isinstance(task.operation, Read | Write)]
    reads, writes = (
        {one.name: one.traces for one in streams if isinstance(one, Read)},
        {one.stream: one.traces for one in streams if isinstance(one, Write) and one.role != "output"},
    )
    passing = {"test.app.by-page", "test.app.by-n"}
    assert {name for name, passes in reads.items() if passes} == {"views", *passing}
    assert {name for name, passes in writes.items() if passes} == passing
