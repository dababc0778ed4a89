"""Calls with literals in every place: a worker computes them, and as Spark does."""

from collections.abc import Iterator
from itertools import product

import pytest
from pyspark.sql import SparkSession

from streamapp_runtime.expressions.plain.plain_functions import CALLS
from streamapp_runtime.expressions.plain.plain_types import PlainValue
from streamapp_runtime.expressions.plain.plain_value import plain_value
from tests.harness.oracles.spark_values import by_spark, by_worker
from tests.harness.oracles.value_rows import COLUMNS, ODD_VALUES, SCOPE

LITERALS = (
    *("'a'", "''", "'2026-02-28'", "'month'", "0", "-1", "2147483648", "1.5", "true", "NULL"),
    *("DATE '2024-01-31'", "TIMESTAMP '2024-01-31 10:20:30.5'"),
)
BESIDE = ("user", "n", "m", "x", "day", "at", "ok")
"""Columns that a literal stands beside."""
FEW = ("'a'", "0", "true", "NULL", "DATE '2024-01-31'", "user", "n", "day")
"""What stands in three places."""
MOST_ARGUMENTS = 3
COMPARED = 60
FIRST_ROWS = [tuple(ODD_VALUES[column.type][row] for column in COLUMNS) for row in range(2)]


def calls() -> Iterator[str]:
    """Calls of every function, with a literal or a column in each place, one of them a literal."""
    for names, counts, _ in CALLS:
        for count in (count for count in counts if 0 < count <= MOST_ARGUMENTS):
            for arguments in product(FEW if count == MOST_ARGUMENTS else (*LITERALS, *BESIDE), repeat=count):
                if any(argument in LITERALS for argument in arguments):
                    yield f"{min(names)}({', '.join(arguments)})"


@pytest.fixture(scope="module")
def plain_calls() -> dict[str, PlainValue]:
    return {text: plain for text in calls() if (plain := plain_value(text, SCOPE))}


def test_a_worker_computes_every_call_that_it_takes(plain_calls: dict[str, PlainValue]) -> None:
    assert len(plain_calls) > COMPARED
    for plain in plain_calls.values():
        assert len(by_worker(plain, FIRST_ROWS)) == len(FIRST_ROWS)


def test_calls_with_literals_are_computed_as_by_spark(
    spark: SparkSession, plain_calls: dict[str, PlainValue]
) -> None:
    texts = sorted(plain_calls)[:: len(plain_calls) // COMPARED]
    texts += ["date_from_unix_date(0)", "date_from_unix_date(-1)", "nullif(2147483648, CAST(k AS SMALLINT))"]
    texts = [text for text in texts if plain_value(text, SCOPE)]
    for text, expected in zip(texts, by_spark(spark, texts, FIRST_ROWS), strict=True):
        plain = plain_value(text, SCOPE)
        assert plain is not None
        assert by_worker(plain, FIRST_ROWS) == expected, text


@pytest.mark.parametrize(
    "text",
    [
        "nullif(2147483648, CAST(user AS INT))",
        "CASE WHEN CAST(k AS SMALLINT) = 32767 THEN 1 END",
        "equal_null(extra, NULL)",
        "names <=> NULL",
    ],
)
def test_what_spark_refuses_or_need_not_compute_is_left_to_it(text: str) -> None:
    assert plain_value(text, SCOPE) is None
