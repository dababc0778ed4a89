"""What is said of expressions without Spark, held against Spark: nothing is refused that it takes."""

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamapp.columns.app_columns import column_problems
from streamapp.columns.column_scope import ColumnScope
from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.columns.function_arities import FUNCTION_ARITIES
from streamapp.columns.spark_functions import (
    AGGREGATE_FUNCTIONS,
    FUNCTIONS,
    GRAMMAR_WORDS,
    NONDETERMINISTIC_FUNCTIONS,
)
from streamapp.columns.sql_columns import SqlReader
from streamapp.columns.sql_reading import tokenized
from streamapp.spec.value_types.expressions import list_entries, sql_tokens, unbalanced
from streamapp_runtime.expressions.spark_source import TextRefusedError, jvm_of_context
from tests.harness.core.all_cases import all_cases
from tests.harness.engine.compiled_apps import app, compiled

OUT = {"name": "o", "sendTo": {"from": "m", "stream": "out"}}
STREAMS: list[dict[str, Any]] = [
    {
        "name": "views",
        "key": "user",
        "columns": "user STRING, n INT, price DECIMAL(10, 2), d DOUBLE, ok BOOLEAN, day DATE, ts TIMESTAMP, "
        "xs ARRAY<INT>, m MAP<STRING, INT>, s STRUCT<a: INT, b: STRING>, `odd name` STRING",
    },
    {"name": "out"},
]


def function_descriptions(spark: SparkSession) -> dict[str, str]:
    names = {row[0].split(".")[-1] for row in spark.sql("SHOW ALL FUNCTIONS").collect()}
    return {
        name: "\n".join(row[0] for row in spark.sql(f"DESCRIBE FUNCTION EXTENDED `{name}`").collect())
        for name in names
        if name.isidentifier()
    }


@pytest.fixture(scope="module")
def descriptions(spark: SparkSession) -> dict[str, str]:
    return function_descriptions(spark)


def test_the_functions_are_those_of_spark(descriptions: dict[str, str]) -> None:
    reducing = {
        name
        for name, text in descriptions.items()
        if re.search(r"Class: \S+\.expressions\.aggregate\.\w+", text)
    }
    assert descriptions.keys() - GRAMMAR_WORDS == FUNCTIONS - GRAMMAR_WORDS
    assert reducing - GRAMMAR_WORDS == AGGREGATE_FUNCTIONS


@pytest.mark.nightly
def test_functions_take_as_many_arguments_as_in_spark(spark: SparkSession) -> None:
    def takes(function: str, count: int) -> bool:
        nulls = ", ".join(["NULL"] * count)
        try:
            spark.sql(f"SELECT `{function}`({nulls})")
        except PySparkException as error:
            return not (error.getCondition() or "").startswith("WRONG_NUM_ARGS")
        return True

    with all_cases() as case:
        for function, numbers in FUNCTION_ARITIES.items():
            with case(function):
                assert {count for count in range(10) if takes(function, count)} == numbers


def test_functions_that_answer_differently_each_time_are_so_in_spark(spark: SparkSession) -> None:
    for name in NONDETERMINISTIC_FUNCTIONS:
        argument = "array(1, 2)" if name == "shuffle" else ""
        plan = spark.sql(f"SELECT {name}({argument})")._jdf.queryExecution().analyzed()
        assert not plan.deterministic(), name


def test_the_examples_of_all_functions_of_spark_are_not_refused(
    spark: SparkSession, descriptions: dict[str, str]
) -> None:
    judged, read_examples, refused = 0, 0, []
    for text in descriptions.values():
        for select in re.findall(r"> SELECT (.*?);\s*$", text, re.M):
            try:
                plan = spark.sql(f"SELECT {select}")._jdf.queryExecution().analyzed()
            except (PySparkException, Py4JError):
                continue
            if plan.nodeName() != "Project" or plan.children().apply(0).nodeName() != "OneRowRelation":
                continue
            if not plan.deterministic() or "unresolvedalias" in plan.toString():
                continue
            judged += 1
            try:
                SqlReader().select(select, ColumnScope(()))
                expressions = tokenized(select)
                read_examples += expressions is not None and expressions.read() is not None
            except CompileRefusedError as error:
                refused.append((select, error.message))
    texts = {select for select, _ in refused}
    assert texts == {"current_time", "localtime"}, "neither does the compiler take"
    assert judged > 600
    assert read_examples / judged > 0.9, "sqlglot reads too few of them to be of use"


TEXTS = st.sampled_from(["user", "`odd name`", "s.b", "'x'", "upper(user)", "trim(BOTH 'a' FROM user)"])
NUMBERS = st.sampled_from(["n", "d", "price", "s.a", "xs[0]", "m['a']", "m.a", "1", "2.5", "1L", "size(xs)"])
TIMES = st.sampled_from(
    ["ts", "current_timestamp", "now()", "ts + INTERVAL 1 HOUR", "timestampadd(DAY, 1, ts)"]
)


def conditions(depth: int = 2) -> st.SearchStrategy[str]:
    texts = (
        TEXTS | st.builds("concat({}, {})".format, TEXTS, TEXTS) | st.builds("{} || {}".format, TEXTS, TEXTS)
    )
    numbers = NUMBERS | st.builds("({} {} {})".format, NUMBERS, st.sampled_from("+-*/%"), NUMBERS)
    numbers |= st.builds("CAST({} AS {})".format, texts, st.sampled_from(["INT", "DECIMAL(5, 1)", "BIGINT"]))
    numbers |= st.builds("extract(YEAR FROM {})".format, TIMES)
    signs = st.sampled_from(["=", "<", ">=", "<>", "!=", "<=>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
    simple = st.one_of(
        st.sampled_from(["ok", "true", "NOT ok", "ok IS TRUE", "s IS NULL", "exists(xs, x -> x > n)"]),
        st.builds("{} {} {}".format, numbers, signs, numbers),
        st.builds("{} {} {}".format, texts, signs, texts),
        st.builds("{} {} {}".format, TIMES, signs, TIMES),
        st.builds("{} LIKE {}".format, texts, st.sampled_from(["'a%'", "ANY ('a', 'b')", "'a' ESCAPE '/'"])),
        st.builds("{} RLIKE 'a'".format, texts),
        st.builds("{} IN ({}, {})".format, numbers, numbers, numbers),
        st.builds("{} BETWEEN {} AND {}".format, numbers, numbers, numbers),
        st.builds("array_contains(transform(xs, (x, i) -> x + i), CAST({} AS INT))".format, numbers),
        st.builds("if({}, ok, {} IS NULL)".format, st.just("ok"), texts),
    )
    if not depth:
        return simple
    inner = conditions(depth - 1)
    return st.one_of(
        simple,
        st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR"]), inner),
        st.builds("NOT ({})".format, inner),
        st.builds("CASE WHEN {} THEN {} ELSE ok END".format, inner, inner),
        st.builds("coalesce({}, {})".format, inner, inner),
    )


NOISE = st.sampled_from(
    ["usr", "n", "", "(", ")", "'", "AND", "sum(n)", "rand()", "nope(n)", "AS x", ", n", "* 2"]
)


@given(text=conditions(), noise=NOISE, place=st.integers(0, 60), noisy=st.booleans())
@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
def test_a_condition_that_spark_takes_is_never_refused(
    spark: SparkSession, text: str, noise: str, place: int, noisy: bool
) -> None:
    where = f"{text[:place]} {noise} {text[place:]}" if noisy else text
    if any(where.count(mark) % 2 for mark in "'`") or where.count("(") != where.count(")"):
        return  # refused where it is parsed
    compiled(spark, app({"name": "m", "filter": {"from": "views", "where": where}}, OUT, streams=STREAMS))


@given(text=conditions(1), alias=st.sampled_from([" AS c", " c", " AS `c d`", ""]))
@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
def test_a_select_list_that_spark_takes_is_never_refused(spark: SparkSession, text: str, alias: str) -> None:
    made = {"name": "m", "map": {"from": "views", "select": f"user, {text}{alias}, s.b, `odd name` AS other"}}
    compiled(spark, app(made, OUT, streams=STREAMS))


PIECES = st.sampled_from(
    [
        *"ab1+,()[]'\"`/* \n\r\\",
        "/*",
        "*/",
        "--",
        "r'",
        "''",
        "``",
        " AS ",
        " max(a)",
        "'s'",
        "/* c */",
        "-- d\n",
    ]
)


@given(pieces=st.lists(PIECES, min_size=1, max_size=9))
@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
def test_quotes_comments_and_entries_end_where_they_do_in_spark(
    spark: SparkSession, pieces: list[str]
) -> None:
    text = f"a {''.join(pieces)} b"
    try:
        entries = jvm_of_context(spark.sparkContext).parsed(text)
    except TextRefusedError:
        return
    assert unbalanced(text) == ""
    assert entries is None or len(list(list_entries(sql_tokens(text)))) == len(entries)


def test_most_conditions_with_an_error_are_refused_without_spark(spark: SparkSession) -> None:
    """So that the tests above compare something."""
    wrong = [
        "usr = 'a'",
        "n",
        "user",
        "'x'",
        "sum(n) > 1",
        "rand() > 1",
        "lenght(user) > 1",
        "n IN (SELECT 1)",
        "ok AS x",
    ]
    for where in wrong:
        assert column_problems(
            app({"name": "m", "filter": {"from": "views", "where": where}}, OUT, streams=STREAMS)
        ), where
