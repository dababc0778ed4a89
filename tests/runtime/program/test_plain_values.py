"""What a worker computes is what Spark computes: names, types, values, errors and their words."""

import datetime as dt
import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.expressions.analysis import columns_by_spark
from streamapp_runtime.expressions.catalyst import parsed_select_items
from streamapp_runtime.expressions.expression import bind
from streamapp_runtime.expressions.plain.plain_value import plain_condition, plain_value
from streamapp_runtime.expressions.row_value import may_fail
from streamapp_runtime.expressions.select_list import select
from streamapp_runtime.expressions.spark_messages import spark_message
from streamapp_runtime.expressions.spark_source import SparkJvm, SparkOnDemand
from streamapp_runtime.formats.arrow_types import arrow_type
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from tests.harness.oracles.spark_values import by_spark, by_worker, columns_of, table_of
from tests.harness.oracles.value_expressions import EXPRESSIONS, INTERVALS, PARTS_OF_DAYS, UNITS
from tests.harness.oracles.value_rows import COLUMNS, ODD_VALUES, ROWS, SCOPE


@given(st.lists(EXPRESSIONS, min_size=8, max_size=16), ROWS)
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
    "CAST(user AS INT)",
    "CAST(page AS DOUBLE)",
    "coalesce(CAST(user AS BOOLEAN), ok)",
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
    "year(at)",
    "month(day) = 2 AND ok",
    "dayofweek(due)",
    "weekofyear(day)",
    "hour(at)",
    "date_trunc('HOUR', at)",
    "date_trunc('week', at) = at",
    "trunc(day, 'MM')",
    "last_day(day)",
    "date_add(day, 7)",
    "date_sub(day, n)",
    "datediff(day, eve)",
    "to_date(at)",
    "to_date(user)",
    "CAST(trim(user) AS DATE)",
    "CAST(day AS TIMESTAMP)",
    "to_timestamp(day)",
    "hour(day)",
    "date_trunc('HOUR', day)",
    "date_format(day, 'yyyy/MM')",
    "unix_timestamp(at)",
    "add_months(day, n)",
    "add_months(day, -1)",
    "months_between(at, day)",
    "months_between(at, TIMESTAMP '2026-01-31 00:00:00', false)",
    "CAST(at AS DATE)",
    "CAST(at AS BIGINT)",
    "CAST(at AS STRING)",
    "CAST(day AS STRING)",
    "CAST(due AS TIMESTAMP)",
    "unix_millis(at)",
    "unix_seconds(at)",
    "unix_date(day)",
    "date_from_unix_date(n)",
    "timestamp_millis(m)",
    "timestamp_seconds(n)",
    "timestamp_micros(m)",
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
    "date_format(at, 'yyyy-MM-dd HH:mm')",
    "date_format(at, 'yyyyMMdd')",
    "from_unixtime(m)",
    "from_unixtime(n, 'HH:mm:ss.SSS')",
    "EXTRACT(HOUR FROM at)",
    "date_part('DOW', day)",
    "concat(day, ' ', ok, m)",
    "n || k",
    "int(user)",
    "bigint(n) * n",
    "string(at)",
    "boolean(ok) AND user IS NULL",
    "date(at)",
    "timestamp(day)",
    "n::STRING",
    "page::DOUBLE + 1",
    "(n - k)::BIGINT::STRING",
    "isnull(at)",
    "isnotnull(user) AND ok",
    "isnan(x) OR isnan(f)",
    "nvl2(user, n, k + 1)",
    "zeroifnull(n) + k",
    "nullifzero(x)",
    "equal_null(n, k)",
    "equal_null(day, NULL)",
    "at + INTERVAL 1 HOUR",
    "at - INTERVAL '15' MINUTE",
    "due + INTERVAL '1 02:03:04' DAY TO SECOND",
    "day + INTERVAL 1 DAY",
    "day - INTERVAL 2 WEEKS",
    "day + INTERVAL 1 HOUR",
    "day + INTERVAL 1 MONTH",
    "INTERVAL 1 YEAR + at",
    "at + INTERVAL 1 HOUR > at",
    "timestampadd(HOUR, n, at)",
    "dateadd(MONTH, 1, day)",
    "timestampdiff(MINUTE, at, due)",
    "datediff(MONTH, day, at)",
    "CAST(user AS TIMESTAMP)",
    "CAST(user AS TIMESTAMP_NTZ)",
    "to_timestamp(user)",
    "user::TIMESTAMP + INTERVAL 1 DAY",
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
    "CAST('1' AS INT)",
    "CAST(user AS INT) > 0 AND ok",
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
    "year(user)",
    "date_trunc('HOUR', due)",
    "date_trunc(user, at)",
    "date_trunc('decade', at)",
    "trunc(at, 'MM')",
    "trunc(day, 'DAY')",
    "date_add(at, 1)",
    "date_add(day, m)",
    "day + 1",
    "datediff(at, day)",
    "unix_timestamp(user)",
    "unix_timestamp()",
    "add_months(at, 1)",
    "add_months(day, m)",
    "add_months(DATE '2026-01-31', 1)",
    "months_between(at, due)",
    "months_between(at, at, ok)",
    "to_date(user, 'yyyy')",
    "CAST(at AS INT)",
    "CAST(due AS BIGINT)",
    "timestamp_millis(m) > at AND ok",
    "timestamp_seconds(x)",
    "unix_millis(due)",
    "unix_millis(day)",
    "at > TIMESTAMP '2026-01-01'",
    "at > TIMESTAMP '2026-01-01 00:00:00Z'",
    "day > DATE '2026-02-30'",
    "day > DATE '26-1-1'",
    "TIME '12:00:00'",
    "date_format(at, 'MMM yyyy')",
    "date_format(at, 'yyy')",
    "date_format(at, '')",
    "date_format(at, 'SSSSSSS')",
    "date_format(at, user)",
    "EXTRACT(SECOND FROM at)",
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
    "integer(user)",
    "n::DECIMAL(3, 1)",
    "int(n + 1) + 2",  # is n + 3 to Spark
    "isnull(n + 1)",
    "isnan(user)",
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
    "to_timestamp(user, 'yyyy')",
    "to_timestamp(n)",
    "CAST('2026-01-01' AS TIMESTAMP)",
    "CAST(user AS TIMESTAMP) > at AND ok",
    "INTERVAL 1 DAY",
    "at + INTERVAL n DAY",
    "at + INTERVAL '1 day'",
    "at + (INTERVAL 1 DAY)",
    "at + INTERVAL 1 DAY - 2 HOURS",  # one interval to Spark
    "at + INTERVAL 1 DAY * 2",
    "at + INTERVAL 1 MONTH 1 DAY",
    "at + INTERVAL 1.5 HOURS",
    "at + INTERVAL 106751992 DAYS",
    "at + INTERVAL '1-12' YEAR TO MONTH",
    "at + INTERVAL '1' DAY TO HOUR",
    "INTERVAL 1 DAY - at",
    "user + INTERVAL 1 DAY",
    "at - due",
    "day + INTERVAL 1 MONTH > day AND ok",
    "timestampadd(HOURS, n, at)",
    "timestampadd('HOUR', n, at)",
    "timestampadd(HOUR, x, at)",
    "timestampdiff(MICROSECOND, at, due)",
    "timestampdiff(DAYOFYEAR, at, due)",
    "nullif(2147483648, CAST(user AS INT))",
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
    *(
        "zeroifnull(n) = 0",
        "at + INTERVAL 1 DAY > at",
        "datediff(DAY, at, due) > 1",
        "to_timestamp(user) > at",
    ),
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
        "user": "2026-02-29",
        "day": dt.date(1970, 1, 31),
        "x": 0.0,
        "y": -0.0,
        "tags": ["a", "b"],
    }
    for text in (
        *("n % (n - n)", "x % y", "mod(m, n - n)", "n div (n - n)", "(-m - 1) div -1", "abs(k)"),
        *("abs(-m - 1)", "floor(m * (x + 2.0))", "ceil(m * (y - 2.0))"),
        *("timestamp_millis(m)", "timestamp_seconds(-m)"),
        *("tags[n]", "tags[-1]", "tags[2]", "element_at(tags, n)", "element_at(tags, 0)"),
        "element_at(tags, k)",
        *("CAST(user AS DATE)", "to_date(user)", "add_months(day, n)", "add_months(day, k)"),
        *("CAST(user AS TIMESTAMP)", "to_timestamp_ntz(user)"),
        *("day + INTERVAL 6000000 YEARS", "day + INTERVAL 300000 YEARS + INTERVAL 1 HOUR"),
        *("timestamp(day) + INTERVAL 300000 YEARS", "timestampadd(DAY, k, day)"),
        *("timestampadd(HOUR, m, day)", "dateadd(Year, n, day)", "timestampadd(MICROSECOND, m, day)"),
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


@pytest.mark.parametrize(
    "moment",
    [
        2**53,
        -(2**53),
        2**62,
        -(2**62),
        2**63 - 1,
        -(2**63) + 800 * 86_400_000_000,
        253_402_300_800_000_000,
        -62_135_596_800_000_001,
    ],
)
def test_moments_and_days_outside_of_four_digits_are_those_of_spark(spark: SparkSession, moment: int) -> None:
    """Python has no such days: Spark gets them by their number."""
    values = {"m": moment, "n": moment // 86_400_000_000, "at": dt.datetime(1970, 1, 31, 1, tzinfo=dt.UTC)}
    row = tuple(values.get(column.name) for column in COLUMNS)
    at, day = "timestamp_micros(m)", "date_from_unix_date(n)"
    texts = [f"CAST({of} AS STRING)" for of in (at, day, f"CAST({at} AS DATE)", f"last_day({day})")]
    texts += [f"{part}({of})" for part in PARTS_OF_DAYS for of in (at, day)]
    texts += [f"unix_micros(date_trunc('{unit}', {at}))" for unit in UNITS]
    texts += [f"unix_date(trunc({day}, '{unit}'))" for unit in UNITS[:8]]
    texts += [f"date_format({at}, '{form}')" for form in ("yyyy-M-d H:m:s.SSSSSS", "yy/MM/dd HHmmss")]
    texts += ["from_unixtime(m)", f"EXTRACT(WEEK FROM {at})", f"date_part('DOY', {day})"]
    texts += [f"add_months({day}, {months})" for months in ("1", "-1", "n", "-n")]
    texts += [f"months_between({at}, TIMESTAMP '2026-01-31 01:02:03'{digits})" for digits in ("", ", false")]
    texts += [f"CAST({day} AS TIMESTAMP)", f"hour({day})", f"unix_timestamp({day})", f"unix_timestamp({at})"]
    texts += [f"hour({at})", f"unix_millis({at})", f"unix_seconds({at})"]
    texts += [f"{of} {sign} INTERVAL {length}" for of in (at, day) for sign in "+-" for length in INTERVALS]
    texts += [f"timestampadd({unit}, n, {at})" for unit in ("YEAR", "WEEK", "SECOND", "MICROSECOND")]
    texts += [f"timestampdiff({unit}, {at}, {day})" for unit in ("YEAR", "MONTH", "WEEK", "MILLISECOND")]
    texts += [f"timestampdiff({unit}, at, {at})" for unit in ("YEAR", "MONTH", "WEEK", "MILLISECOND")]
    for text, wanted in zip(texts, by_spark(spark, texts, [row]), strict=True):
        plain = plain_value(text, SCOPE)
        assert plain is not None, text
        assert by_worker(plain, [row]) == wanted, text
