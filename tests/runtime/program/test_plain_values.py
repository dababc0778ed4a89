"""What a worker computes is what Spark computes: names, types, values, errors and their words."""

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.expressions.analysis import columns_by_spark
from streamapp_runtime.expressions.catalyst import parsed_select_items
from streamapp_runtime.expressions.expression import bind
from streamapp_runtime.expressions.plain.plain_value import plain_condition, plain_value
from streamapp_runtime.expressions.select_list import select
from streamapp_runtime.expressions.spark_messages import spark_message
from streamapp_runtime.expressions.spark_source import SparkJvm, SparkOnDemand
from streamapp_runtime.expressions.value_rules import may_fail
from streamapp_runtime.formats.arrow_types import arrow_type
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from tests.harness.machine.random_cases import share
from tests.harness.oracles.spark_values import by_spark, by_worker, columns_of, table_of
from tests.harness.oracles.value_expressions import EXPRESSIONS
from tests.harness.oracles.value_rows import COLUMNS, ODD_VALUES, ROWS, SCOPE


@given(st.lists(EXPRESSIONS, min_size=16, max_size=32), ROWS)
@settings(max_examples=share(0.4))
def test_a_value_and_its_failures_are_those_of_spark(
    spark: SparkSession, expressions: list[str], rows: list[tuple[Any, ...]]
) -> None:
    plain_values = {text: plain for text in expressions if (plain := plain_value(text, SCOPE))}
    if not plain_values:
        return
    named = [f"{text} AS c{n}" for n, text in enumerate(plain_values)]
    assert [column.type for column in columns_by_spark(spark.sparkContext, named, SCOPE)] == [
        plain.type for plain in plain_values.values()
    ]
    for (text, plain), wanted in zip(
        plain_values.items(), by_spark(spark, list(plain_values), rows), strict=True
    ):
        assert by_worker(plain, rows) == wanted, text


LISTS = st.lists(
    st.tuples(EXPRESSIONS | st.sampled_from(["user", "m", "*"]), st.sampled_from(["", " AS `a b`", " AS c"])),
    min_size=1,
    max_size=3,
)


def _without_spark(text: str) -> SparkJvm:
    raise LookupError(text)


NO_SPARK = SparkOnDemand(_without_spark)


@given(LISTS)
def test_a_list_that_is_read_without_spark_has_the_names_types_and_templates_that_it_has_with_spark(
    spark: SparkSession, entries: list[tuple[str, str]]
) -> None:
    text = ",".join(
        f"{value}{alias or f' AS e{n}'}" if value != "*" else value
        for n, (value, alias) in enumerate(entries)
    )
    try:
        plain = select(NO_SPARK, text, SCOPE)
    except LookupError:
        return
    except Exception as refused:  # the same of both
        with pytest.raises(type(refused)):
            select(spark.sparkContext, text, SCOPE)
        return
    assert plain.columns == columns_by_spark(spark.sparkContext, [text], SCOPE)
    items = [item for item in parsed_select_items(spark.sparkContext, text) if not item.star]
    computed = [output for output in plain.outputs if output.column is None]
    assert computed == [made for item in items if (made := bind(item, SCOPE)).column is None]


@pytest.mark.parametrize(
    "text",
    [
        "of.n, of.deep.day, of.`a b`",
        "extra.a, user",
        "of.deep AS rest, of.deep.x AS n",
        "visits[0].page AS page, tags[1] AS tag",
    ],
)
def test_a_field_in_a_list_has_the_name_that_spark_gives_it(spark: SparkSession, text: str) -> None:
    plain = select(NO_SPARK, text, SCOPE)
    assert plain.columns == columns_by_spark(spark.sparkContext, [text], SCOPE)
    assert all(output.in_python is not None for output in plain.outputs)


def test_columns_are_computed_with_by_the_names_of_their_sides() -> None:
    sides = ColumnScope(
        (ScopeSide("views", COLUMNS), ScopeSide("users", parse_columns("user STRING, n INT")))
    )
    by_side = plain_value("upper(users.user) || views.page", sides)
    assert by_side is not None
    users, pages = pa.array(["ann", None]), pa.array(["/a", "/b"])
    columns = [pa.nulls(2)] * len(sides.columns)
    columns[len(COLUMNS)], columns[1] = users, pages
    assert RowValues(columns, 2).column(by_side.value, pa.string()).to_pylist() == ["ANN/a", None]
    assert plain_value("users.n + views.n > 3", sides) is not None
    assert plain_value("users.page = 'a'", sides) is None


PLAIN = [
    "n + 1",
    "n - k * 2",
    "m * 2",
    "x * 1.5 + y",
    "n / k",
    "-n",
    "CASE WHEN n > 10 THEN 'many' WHEN n > 1 THEN 'some' ELSE 'none' END",
    "CASE n WHEN 1 THEN 'one' ELSE page END",
    "CASE 'a' WHEN page THEN n END",
    "CASE WHEN n + 1 > 10 THEN n ELSE m END",
    "coalesce(n, 0)",
    "coalesce(x, 0.0)",
    "nullif(k, 0)",
    "nvl(user, 'nobody')",
    "n * k / nullif(m, 0)",
    "if(ok, 1, 0)",
    "n > 1 AND ok",
    "user || '/' || page",
    "concat(user, ' ', trim(page))",
    "length(user)",
    "substring(page, 1, 3)",
    "CAST(n AS STRING)",
    "CAST(m AS INT)",
    "CAST(n AS DOUBLE)",
    "CAST(NULL AS BIGINT)",
    "'text'",
    "true",
    "17",
    "contains(page, 'x')",
    "n % 2",
    "n % 2 = 0 AND ok",
    "x / 2 > y OR ok",
    "mod(m, n)",
    "n div 60",
    "abs(n - k)",
    "floor(x)",
    "ceil(x / 2)",
    "sign(n)",
    "greatest(n, k, 0)",
    "least(x, 1.5)",
    "upper(user)",
    "lower(user || page)",
    "replace(page, 'a', 'bc')",
    "replace(page, 'a')",
    "page LIKE 'a_b%c'",
    "page LIKE '%!%' ESCAPE '!'",
    "substring(user, 0, 1)",
    "substring(user, -2, 1)",
    "left(user, 2)",
    "right(user, 2)",
    "concat_ws('-', user, page)",
    "lpad(user, 5, '0')",
    "rpad(user, 3)",
    "repeat(user, 3)",
    "x > 1",
    "n > 1.5",
    "n < x AND ok",
    "x BETWEEN 0.5 AND k",
    "page NOT BETWEEN 'a' AND user",
    "n <=> k",
    "x <=> NULL",
    "x IN (1, 2.5)",
    "nullif(x, 0)",
    "at IS NULL",
    "of IS NOT NULL",
    "CASE WHEN ok THEN at END",
    "coalesce(price, price)",
    "raw = raw",
    "f < f",
    "day >= day",
    "at >= TIMESTAMP '2026-01-01 00:00:00'",
    "day BETWEEN DATE '2026-01-01' AND DATE '2026-12-31'",
    "coalesce(day, DATE '1970-01-01')",
    "of.n",
    "of.n + 1",
    "of.`a b` = 'a' AND ok",
    "of.deep",
    "of.deep.day = day",
    "of.deep.x > 0",
    "(of.deep).x",
    "tags[0]",
    "tags[n]",
    "tags[0] = 'a'",
    "counts[t] + counts[1]",
    "get(tags, 0) = 'a' AND ok",
    "element_at(ratios, -1)",
    "visits[0].page",
    "get(visits, n).m + 1",
    "visits[0]",
    "extra['a']",
    "extra.a",
    "names[1]",
    "element_at(extra, 'b') = 1 AND ok",
    "size(tags)",
    "size(extra) > 0 AND ok",
    "cardinality(visits)",
    "array_contains(tags, 'a') AND ok",
    "array_contains(counts, n)",
    "array_contains(ratios, x)",
    "coalesce(of.n, n)",
    "of.deep IS NULL",
    "upper(tags[1])",
    "user || '-' || n",
    "n || k",
    "bigint(n) * n",
    "boolean(ok) AND user IS NULL",
    "n::STRING",
    "(n - k)::BIGINT::STRING",
    "isnull(at)",
    "isnotnull(user) AND ok",
    "isnan(x) OR isnan(f)",
    "nvl2(user, n, k + 1)",
    "zeroifnull(n) + k",
    "nullifzero(x)",
    "equal_null(n, k)",
    "equal_null(day, NULL)",
    "instr(user, 'a')",
    "locate('a', user)",
    "locate('a', user, 2) > 0 AND ok",
    "position('a' IN user || page)",
    "position('b', user, 2)",
    "reverse(user)",
    "split_part(user, '-', 2)",
    "split_part(user, 'aa', -1)",
    "substring_index(user, 'aa', 2)",
    "substring_index(user, 'aa', -2)",
    "substring_index(user, '-', 1)",
    "translate(user, 'abé', 'b')",
    "ascii(user)",
    "octet_length(user)",
    "bit_length(raw)",
    "md5(user)",
    "sha1(raw)",
    "sha(user)",
    "sha2(user, 256)",
    "sha2(user, 512)",
    "crc32(user)",
    "hex(user)",
    "hex(raw)",
    "price > 1",
    "price >= 1.5 AND ok",
    "price = 1.505",
    "price < rate",
    "price <> n",
    "price BETWEEN 0.5 AND 100",
    "nullif(price, 0)",
    "price + 1",
    "price * 1.50",
    "n * 1.5",
    "0.908 * n > 1000000",
    "price - rate",
    "price * n",
    "price + price > rate",
    "price + CAST(1 AS INT)",
    "price + 1::INT",
]
LEFT_TO_SPARK = [
    "n + 1 + 2",  # Spark adds 1 and 2 first
    "2147483647 + 1",
    "n + 1 > 0 AND ok",
    "(n + 1) IS NULL",
    "if(n + 1 > 0, 1, 1)",
    "CASE WHEN n + 1 > 0 THEN 1 ELSE 2 END + 1",
    "n + 1 = n + 1",
    "coalesce(n + 1, 0) * 2",
    "k / x + CASE WHEN true THEN NULL ELSE x END",  # null to Spark, whatever k and x are
    "t + s",
    "nullif(n + 1, 0)",
    "x + CASE WHEN ok THEN 1.5 ELSE 0.1 END",
    "1.5",
    "upper(lower(user))",  # is upper(user) to Spark
    "lower(if(ok, upper(user), 'a'))",
    "initcap(user)",
    "upper(n)",
    "replace(user, '')",
    "replace(user, page, 'a')",
    "page LIKE 'a!b' ESCAPE '!'",
    "page LIKE 'a!' ESCAPE '!'",
    "page LIKE user",
    "left(user, n)",
    "repeat(user, 1000000)",
    "concat_ws(user, page, page)",
    "CAST(x AS INT)",
    "CAST(x AS STRING)",
    "NULL",
    "n % 0 = 0 AND ok",
    "m div -1 = 0 AND ok",
    "t % s",
    "n % 1.5",
    "floor(n)",
    "abs(-2147483648)",
    "abs(t)",
    "abs(n) IS NULL",
    "floor(x) > 1 AND ok",
    "greatest(n, 1.5)",
    "greatest(n)",
    "user || x",
    "if(n, 1, 2)",
    "n --1",
    "n /* 1 */ + 1",
    "trim(LEADING 'a' FROM user)",
    "concat()",
    "CASE END",
    "CAST(n AS DECIMAL(3, 1))",
    "n + 1 BETWEEN 1 AND 2",  # Spark computes it once, before all others
    "n BETWEEN 1 AND k + 1",
    "n BETWEEN 0.5 AND 2",
    "n + 1 <=> k",
    "n + k = k + n",
    "n = 1.5",
    "t > 1.5",
    "n > 3000000000.5",
    "f > x",
    "at > '2026-01-01'",
    "price > x",
    "price > '1'",
    "price / 2",
    "price % 2",
    "-price",
    "price + 1 + 2",
    "rate * rate * rate",
    "coalesce(price, 0)",
    "greatest(price, rate)",
    "CAST(price AS DECIMAL(3, 1))",
    "x IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)",
    "x IN (1, NULL)",
    "if(ok, of, NULL)",
    "coalesce(at, day)",
    "at > day",
    "year(at)",
    "date_trunc('HOUR', at)",
    "CAST(at AS DATE)",
    "to_date(user)",
    "timestamp(user)",
    "timestamp_millis(m)",
    "at + INTERVAL 1 DAY",
    "EXTRACT(HOUR FROM at)",
    "timestampadd(HOUR, n, at)",
    "CAST(user AS INT)",
    "user::DOUBLE",
    "boolean(user)",
    "isnan(user)",
    "day + 1",
    "at > TIMESTAMP '2026-01-01'",
    "at > TIMESTAMP '2026-01-01 00:00:00Z'",
    "day > DATE '2026-02-30'",
    "day > DATE '26-1-1'",
    "TIME '12:00:00'",
    "of.N",
    "of.missing",
    "of['n']",
    "visits.page",
    "tags[m]",
    "tags['a']",
    "tags[0] = 'a' AND ok",
    "tags[0] IS NULL",
    "element_at(tags, t)",
    "extra[user]",
    "extra[1]",
    "names['a']",
    "size(user)",
    "array_contains(counts, m)",
    "array_contains(visits, visits[0])",
    "if(ok, of.deep, NULL)",
    "of.deep = of.deep",
    "tags = tags",
    "int(x)",
    "n::DECIMAL(3, 1)",
    "int(n + 1) + 2",  # is n + 3 to Spark
    "isnull(n + 1)",
    "nullifzero(n + 1)",
    "zeroifnull(user)",
    "equal_null(n + 1, k)",
    "nvl2(n, k + 1, int(k + 1))",  # is k + 1 to Spark
    "instr(user, page)",
    "instr(n, '1')",
    "locate('a', user, n)",
    "locate('a', user, NULL)",
    "reverse(tags)",
    "split_part(user, ',', 0)",
    "split_part(user, page, 1)",
    "translate(user, 'a', NULL)",
    "ascii(n)",
    "sha2(user, 1)",
    "hex(n)",
    "base64(user)",
    "md5(n)",
    "at - due",
    "nullif(2147483648, CAST(k AS SMALLINT))",
    "CASE WHEN CAST(k AS SMALLINT) = 32767 THEN 1 END",
    "equal_null(extra, NULL)",
    "names <=> NULL",
]


def test_expressions_that_most_apps_have_need_no_spark() -> None:
    assert [text for text in PLAIN if plain_value(text, SCOPE) is None] == []


def test_what_spark_may_compute_in_another_way_is_left_to_it() -> None:
    assert [text for text in LEFT_TO_SPARK if plain_value(text, SCOPE) is not None] == []


CONDITIONS_OF_WORKERS = [
    *("n::INT = 1", "string(user) = 'a'", "user::STRING LIKE 'a%'", "int(n) IN (1, 2)", "boolean(ok)"),
    *(
        "isnull(n)",
        "isnotnull(user)",
        "isnan(x)",
        "equal_null(n, 1)",
        "equal_null(n, NULL)",
        "nvl2(n, ok, ok)",
    ),
    *("zeroifnull(n) = 0",),
    *("instr(user, 'a') > 0", "md5(user) = 'a'", "price > 1", "price = price"),
    "price BETWEEN 1 AND 2",
]


@pytest.mark.parametrize("text", CONDITIONS_OF_WORKERS)
def test_a_condition_of_columns_and_literals_needs_no_spark(text: str) -> None:
    assert plain_condition(text, SCOPE) is not None


def failing(spark: SparkSession) -> Iterator[tuple[str, dict[str, Any]]]:
    edges: dict[str, Any] = {
        "n": 2**31 - 1,
        "k": -(2**31),
        "m": 2**63 - 1,
        "x": 0.0,
        "y": -0.0,
        "tags": ["a", "b"],
    }
    for text in (
        *("n % (n - n)", "x % y", "mod(m, n - n)", "n div (n - n)", "(-m - 1) div -1", "abs(k)"),
        *("abs(-m - 1)", "floor(m * (x + 2.0))", "ceil(m * (y - 2.0))"),
        *("tags[n]", "tags[-1]", "tags[2]", "element_at(tags, n)", "element_at(tags, 0)"),
        "element_at(tags, k)",
        *("n + 1", "k - 1", "n * n", "m + 1", "-m - 3", "m * m", "-k", "n / x", "x / y", "n / (n - n)"),
        *("CAST(m AS INT)", "CAST(m AS SMALLINT)", "CAST(n AS TINYINT)"),
        "CAST(CAST(200 + n AS INT) AS TINYINT)",
    ):
        yield text, edges


def test_an_error_has_the_words_of_spark(spark: SparkSession) -> None:
    for text, edges in failing(spark):
        row = tuple(edges.get(column.name) for column in COLUMNS)
        plain = plain_value(text, SCOPE)
        assert plain is not None, text
        assert may_fail(plain.value)
        values = RowValues(columns_of([row]), 1)
        values.column(plain.value, arrow_type(plain.type))
        with pytest.raises(PySparkException) as error:
            spark.createDataFrame(table_of([row])).selectExpr(f"{text} AS v").collect()
        assert values.failures == {0: spark_message(error.value)}, text


def test_common_expressions_are_computed_as_by_spark_over_all_odd_values(spark: SparkSession) -> None:
    chance = random.Random(0)  # noqa: S311
    odd = [[None, *ODD_VALUES[column.type]] for column in COLUMNS]
    rows = [tuple(map(chance.choice, odd)) for _ in range(600)]
    for text, wanted in zip(PLAIN, by_spark(spark, PLAIN, rows), strict=True):
        plain = plain_value(text, SCOPE)
        assert plain is not None
        assert by_worker(plain, rows) == wanted, text


def test_a_value_beside_a_null_is_not_computed_and_cannot_fail(spark: SparkSession) -> None:
    edges: dict[str, Any] = {"k": 1, "m": 2**63 - 1, "x": 0.0}
    row = tuple(edges.get(column.name) for column in COLUMNS)
    texts = ["n + m * m", "(k / x) / n", "(m * m) / n", "n > m * m", "n - (m + 1)", "user || (m * m)"]
    for text, wanted in zip(texts, by_spark(spark, texts, [row]), strict=True):
        plain = plain_value(text, SCOPE)
        assert plain is not None, text
        assert by_worker(plain, [row]) == wanted == ["None"], text
