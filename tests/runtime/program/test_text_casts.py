"""A text is cast to numbers and truth values as Spark casts it, and refused in its words."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamapp_runtime.expressions.plain.plain_value import plain_value
from streamapp_runtime.expressions.spark_messages import spark_message
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from tests.harness.oracles.spark_values import by_spark, by_worker
from tests.harness.oracles.value_rows import COLUMNS, SCOPE

ODD_TEXTS = [
    *("0", "-0", "+1", "1.5", "1.", ".5", ".", "", " ", "+", "-", "--1", " 7 ", "\t7\n", "\x007\x7f"),
    "\u00a07",
    *("127", "128", "-128", "-129", "32768", "2147483647", "-2147483649", "9223372036854775807", "1e3"),
    "1e400",
    *("9223372036854775808", "0" * 30 + "1", "9" * 5000, "\u0661", "1_0", "0x1p3", "0x.8p1"),
    *("0x1p99999", "0x1", "0xp1"),
    *("-0x1.8P-1d", "1f", "1.5D", "1e-400", "1e", "e1", "NaN", "nan", "-NaN", "-nan", "+nan"),
    *("Infinity", "-Infinity"),
    *("+infinity", "INF", "-inf", "inf ", "Inf\x7f", "infinit", "true", "T", " yes\x7f", "no", "N"),
    *("False", "2", "tru"),
    *("it's", "a\\b", "a\nb", "\nb", "a\n", "\u212a", "9007199254740993", "2.2250738585072012e-308"),
    "0x1fffffffffffffp-53",
    *("a SQLSTATE: 1", "[X] a", "1 2", "4.9e-324", "2.4703282292062328e-324", "1.7976931348623159e308"),
    *("-0.0", "0x0p0"),
    *("2024-02-29", "2023-02-29", "2024-2-9", "2024", "2024-12", "2024-13", "24-01-01", "2024-01-01T25:00x"),
    *("2024-01-01 ", "2024-01-01 \n a", "2024-01-01a", "2024-01 ", "2024-", "2024-1-", "2024-1-1-"),
    *("-0001-12-31", "+10000-1-1", "-2024", "5881580-07-11", "5881580-07-12", "-5877641-06-23", "0000-01-01"),
    *("-5877641-06-22", "\t2024-01-01\x7f", "T2024", "2024T", "2024-01-001", "\u0662024-01-01", "- 2024"),
    "12345678-1-1",
]


@pytest.mark.parametrize("kind", ["TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "BOOLEAN", "DATE"])
def test_a_text_is_cast_as_spark_casts_it(spark: SparkSession, kind: str) -> None:
    text = f"CAST(user AS {kind})"
    plain = plain_value(text, SCOPE)
    assert plain is not None
    rows = [(odd, *(None,) * (len(COLUMNS) - 1)) for odd in ODD_TEXTS]
    for odd, mine, wanted in zip(
        ODD_TEXTS, by_worker(plain, rows), *by_spark(spark, [text], rows), strict=True
    ):
        assert mine == wanted, ascii(odd)


@given(
    st.lists(st.text(st.sampled_from("0123456789.eE+-xXpPaAfFdDnNiItTyY \t\x7f")), min_size=1, max_size=300)
)
def test_any_text_is_cast_as_spark_casts_it(spark: SparkSession, texts: list[str]) -> None:
    rows = [(text, *(None,) * (len(COLUMNS) - 1)) for text in texts]
    casts = [f"CAST(user AS {kind})" for kind in ("INT", "DOUBLE", "BOOLEAN")]
    plain_casts = [plain for cast in casts if (plain := plain_value(cast, SCOPE))]
    assert [by_worker(plain, rows) for plain in plain_casts] == by_spark(spark, casts, rows)


@given(
    st.lists(
        st.from_regex(r"\s?[+-]?[0-9]{3,8}(-[0-9]{1,3}){0,3}([ Tx][0-9:]*)?\s?", fullmatch=True),
        min_size=1,
        max_size=300,
    )
)
def test_any_text_is_the_day_that_spark_reads(spark: SparkSession, texts: list[str]) -> None:
    rows = [(text, *(None,) * (len(COLUMNS) - 1)) for text in texts]
    plain = plain_value("CAST(user AS DATE)", SCOPE)
    assert plain is not None
    assert [by_worker(plain, rows)] == by_spark(spark, ["CAST(user AS DATE)"], rows)


@pytest.mark.parametrize("odd", ["a", "", "it's", "a\\b", "a\nb", "\nb", "a SQLSTATE: 1", "1.5"])
def test_a_text_that_cannot_be_cast_is_told_in_the_words_of_spark(spark: SparkSession, odd: str) -> None:
    plain = plain_value("CAST(user AS INT)", SCOPE)
    assert plain is not None
    values = RowValues([pa.array([odd])], 1)
    values.column(plain.value, pa.int32())
    with pytest.raises(PySparkException) as error:
        spark.createDataFrame([(odd,)], "user STRING").selectExpr("CAST(user AS INT)").collect()
    assert values.failures == {0: spark_message(error.value)}
