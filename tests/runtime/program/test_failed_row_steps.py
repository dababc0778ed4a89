"""A search marks exactly the rows on which an expression fails, and all others come out as they always do."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamapp_runtime.program.failed_row_steps import (
    all_sql_steps,
    apply_marking_failures,
    failed_step,
    without_shared_subexpressions,
)
from streamapp_runtime.program.program import Program, SqlLayer
from streamapp_runtime.program.sql_layer import apply_layer, apply_step
from tests.harness.engine.compiled_apps import Row, app, program_of, task

OPERATORS: list[dict[str, Any]] = [
    {"name": "some", "filter": {"from": "views", "where": "float(page) > 0"}},
    {"name": "made", "map": {"from": "some", "select": "user, page, 10 / n AS a, 10 / n + 1 AS b"}},
    {
        "name": "many",
        "flatMap": {"from": "made", "select": "user, a, posexplode(sequence(1, 3 - int(user), 1))"},
    },
    {"name": "one", "sendTo": {"from": "many", "stream": "out"}},
    {"name": "other", "map": {"from": "views", "select": "upper(initcap(user)) AS user"}},
    {"name": "two", "sendTo": {"from": "other", "stream": "out"}},
]
VALUES: list[tuple[str | None, str | None, int | None]] = [
    ("1", "7", 2),
    ("1", "x", 2),  # fails in the filter
    ("1", "0", 0),  # is left out before it could fail
    ("2", "5", 0),  # fails in the map, in two expressions that have something in common
    ("9", "5", 1),  # fails in the generator
    ("x", "5", 1),  # the same, by a cast
    (None, "5", None),
    (None, None, None),
]


@pytest.fixture(scope="module")
def program(spark: SparkSession) -> Program:
    return program_of(spark, app(*OPERATORS))


def wide(program: Program) -> list[Row]:
    """The rows on every edge that leaves the input, and a tombstone."""
    rows = []
    for edge in task(program, "views").outputs:
        for offset, (user, page, n) in enumerate([*VALUES, (None, None, None)]):
            empty: Row = {column.name: None for column in program.registers}
            fixed = {"tag": edge.tag, "task": 0, "t": 0, "z": offset == len(VALUES), "src": 0, "off": offset}
            values = dict(zip(edge.registers, (user, page, n, datetime(2026, 1, 1, tzinfo=UTC)), strict=True))
            rows.append(empty | fixed | values)
    return rows


def layer(program: Program) -> SqlLayer:
    (found,) = [each for each in program.layers if isinstance(each, SqlLayer)]
    return found


def plainly(spark: SparkSession, program: Program, row: Row) -> list[Row] | None:
    """What comes of one row alone; None where it fails."""
    frame = spark.createDataFrame([tuple(row.values())], program.schema)
    try:
        return [each.asDict() for each in apply_layer(frame, layer(program)).collect()]
    except PySparkException:
        return None


def test_the_rows_that_fail_are_marked_and_the_others_come_out_as_they_do(
    spark: SparkSession, program: Program
) -> None:
    rows = wide(program)
    frame = spark.createDataFrame([tuple(row.values()) for row in rows], program.schema)
    with without_shared_subexpressions(spark):
        made = [row.asDict() for row in apply_marking_failures(frame, layer(program), 0).collect()]
    failed = {(at[1], row["off"]): at[0] for row in made if (at := failed_step(row["tag"]))}
    expected: list[Row] = []
    for row in rows:
        alone = plainly(spark, program, row)
        assert (alone is None) == any(off == row["off"] and alone is None for _, off in failed)
        expected += alone or []
    well = [row for row in made if not failed_step(row["tag"])]
    assert sorted(map(repr, well)) == sorted(map(repr, expected))
    steps = [failed[place] for place in sorted(failed, key=lambda place: place[1])]
    assert steps == [0, 0, 1, 1]  # filter and map are one
    assert sorted(off for _, off in failed) == [1, 3, 4, 5]


def test_a_marked_row_fails_at_the_step_that_it_names(spark: SparkSession, program: Program) -> None:
    frame = spark.createDataFrame([tuple(row.values()) for row in wide(program)], program.schema)
    with without_shared_subexpressions(spark):
        marked = [row.asDict() for row in apply_marking_failures(frame, layer(program), 0).collect()]
    for row in marked:
        if (at := failed_step(row["tag"])) is not None:
            alone = spark.createDataFrame([tuple((row | {"tag": at[1]}).values())], program.schema)
            with pytest.raises(PySparkException):
                apply_step(alone, all_sql_steps(program)[at[0]]).collect()


def test_what_spark_does_elsewhere_is_as_before(spark: SparkSession) -> None:
    name = "spark.sql.subexpressionElimination.enabled"
    before = spark.conf.get(name)
    with pytest.raises(KeyError), without_shared_subexpressions(spark):
        assert spark.conf.get(name) == "false"
        raise KeyError
    assert spark.conf.get(name) == before


def test_tags_of_rows_that_have_not_failed_say_so() -> None:
    assert [failed_step(tag) for tag in (0, 5, -1, -2, -3, -99)] == [None] * 6
    assert failed_step(7 - 3_000_000) == (2, 7)
