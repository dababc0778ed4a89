"""Uses SQL once, so that a JVM that writes down its classes has those of SQL and of the expression server.

python -m streamapp_runtime.driver.spark.sql_class_recording PROCESSORS
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from streamapp_runtime.driver.spark.jvm import end_jvm
from streamapp_runtime.driver.spark.spark_session import close_session, open_session
from streamapp_runtime.expressions.expression_client import ExpressionClient, SparkExpressions

EXPRESSIONS: Final = SparkExpressions(
    columns="id BIGINT, word STRING, at TIMESTAMP",
    places=(0, 1, 2),
    where="id >= 0 AND word LIKE 'w%'",
    select=(
        "id + 1",
        "upper(concat(word, CAST(id AS STRING)))",
        "date_trunc('HOUR', at)",
        "get_json_object(word, '$.a')",
        "regexp_replace(word, 'o', '0')",
        "CAST(id AS DECIMAL(18, 2)) * 2",
        "CASE WHEN id > 0 THEN array(id) END",
    ),
)
"""Some of each kind that apps have."""
BATCHES: Final = 3


def main(processors: int) -> None:
    """Load the classes with which a driver reads expressions, and executors evaluate them."""
    session = open_session("streamapp-recording", processors)
    session.open().sql("SELECT id + 1 AS n FROM (SELECT CAST(NULL AS BIGINT) AS id)").collect()
    lanes = session.context.parallelize(range(processors), processors)
    lanes.mapPartitions(evaluate_once).collect()
    close_session(session)
    end_jvm()


def evaluate_once(elements: Iterable[int]) -> Iterator[int]:
    """The number of rows of each batch that a worker has had evaluated."""
    rows = [[*elements], ["word"], [0]]
    kinds = (pa.int64(), pa.string(), pa.timestamp("us", "UTC"))
    columns = [pa.array(values, kind) for values, kind in zip(rows, kinds, strict=True)]
    client = ExpressionClient()
    for _ in range(BATCHES):
        yield len(client.evaluate(EXPRESSIONS, columns, 1).is_kept)
    client.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
