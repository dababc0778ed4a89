"""What a worker computes is what Spark computes: names, types, values, errors and their words."""

import datetime as dt
import random
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.expressions.analysis import canonical, columns_by_spark
from streamapp_runtime.expressions.catalyst import parsed_select_items
from streamapp_runtime.expressions.expression import bind
from streamapp_runtime.expressions.plain.plain_types import PlainValue
from streamapp_runtime.expressions.plain.plain_value import plain_value
from streamapp_runtime.expressions.row_value import may_fail
from streamapp_runtime.expressions.select_list import select
from streamapp_runtime.expressions.spark_messages import spark_message
from streamapp_runtime.expressions.spark_source import SparkOnDemand
from streamapp_runtime.formats.arrow_types import arrow_schema, arrow_type
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from streamapp_runtime.program.failed_row_steps import without_shared_subexpressions

COLUMNS = canonical(
    parse_columns(
        "user STRING, page STRING, n INT, k INT, m BIGINT, t TINYINT, s SMALLINT, x DOUBLE, y DOUBLE, "
        "ok BOOLEAN, at TIMESTAMP, due TIMESTAMP_NTZ, day DATE, eve DATE, f FLOAT, raw BINARY, "
        "price DECIMAL(9,2), of STRUCT<n: INT, `a b`: STRING, deep: STRUCT<day: DATE, x: DOUBLE>>, "
        "tags ARRAY<STRING>, counts ARRAY<INT>, ratios ARRAY<DOUBLE>, "
        "visits ARRAY<STRUCT<page: STRING, m: BIGINT>>, extra MAP<STRING, INT>, names MAP<INT, STRING>"
    )
)
SCOPE = ColumnScope((ScopeSide("", COLUMNS),))
SCHEMA = arrow_schema(COLUMNS)
ODD_DOUBLES = [0.0, -0.0, 1.0, -1.5, 0.1, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, 2.0**53]
ODD_MOMENTS = [
    dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC),
    dt.datetime(2026, 2, 28, 12, 30, tzinfo=dt.UTC),
    dt.datetime(2024, 2, 29, 23, 59, 59, 999_000, tzinfo=dt.UTC),
    dt.datetime(1, 1, 1, tzinfo=dt.UTC),
    dt.datetime(1582, 10, 10, 1, 2, 3, 400_000, tzinfo=dt.UTC),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC),
]
ODD_DATES = [
    *(dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    *(dt.date(2024, 2, 29), dt.date(2100, 2, 28), dt.date(1582, 10, 10), dt.date(2026, 1, 1)),
    *(dt.date(2020, 12, 31), dt.date(2021, 1, 3), dt.date(2018, 12, 31)),
]


def odd_wholes(bits: int) -> list[int]:
    most = 2 ** (bits - 1) - 1
    return [0, 1, -1, 2, 7, most, most - 1, -most, -most - 1, most // 2 + 1]


ODD_VALUES: dict[str, list[Any]] = {
    "STRING": [
        *(
            "",
            " ",
            "a",
            " a ",
            "\ta ",
            "ab",
            "ba",
            "\u00a0a\u2003",
            "é",
            "e\u0301",
            "ß",
            "İ",
            "a%b",
            "-12",
            "1.5",
        ),
        *("\U0001f600b", "a\nb", "a.b", "ΑΣ", "aΣ\u0301b", "ǆ", "ﬁ", " 7", "NaN", "true", "N", "99999999999"),
    ],
    "INT": odd_wholes(32),
    "BIGINT": [*odd_wholes(64), 2**31, -(2**31) - 1, 2**53 + 1, 2**32],
    "TINYINT": odd_wholes(8),
    "SMALLINT": odd_wholes(16),
    "DOUBLE": ODD_DOUBLES,
    "BOOLEAN": [True, False],
    "TIMESTAMP": ODD_MOMENTS,
    "TIMESTAMP_NTZ": [moment.replace(tzinfo=None) for moment in ODD_MOMENTS],
    "DATE": ODD_DATES,
    "FLOAT": [0.0, -0.0, 1.5, float("nan"), float("inf"), -float("inf"), 2.0**-149],
    "BINARY": [b"", b"a", b"\xff", b"\x7f\x00"],
    "DECIMAL(9,2)": [Decimal("0.00"), Decimal("-1.50"), Decimal("9999999.99")],
    "STRUCT<`n`: INT, `a b`: STRING, `deep`: STRUCT<`day`: DATE, `x`: DOUBLE>>": [
        {"n": None, "a b": None, "deep": None},
        {"n": 1, "a b": "a", "deep": {"day": None, "x": float("nan")}},
        {"n": -1, "a b": "", "deep": {"day": dt.date(2024, 2, 29), "x": -0.0}},
    ],
    "ARRAY<STRING>": [[], [None], ["a"], ["b", None, "a"], ["", "é"]],
    "ARRAY<INT>": [[], [None, 1], [0, 1, 2], [2**31 - 1, -(2**31), None]],
    "ARRAY<DOUBLE>": [[], [0.0, float("nan")], [-0.0, None], [1.5, float("inf")]],
    "ARRAY<STRUCT<`page`: STRING, `m`: BIGINT>>": [
        [],
        [None],
        [{"page": "a", "m": 1}, {"page": None, "m": 2**40}],
    ],
    "MAP<STRING, INT>": [[], [("a", 1)], [("b", None), ("a", -1)], [("", 0)]],
    "MAP<INT, STRING>": [[], [(1, "a"), (-1, None)], [(0, "")]],
}
_ANY_VALUES = {
    "INT": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "TIMESTAMP": st.datetimes(timezones=st.just(dt.UTC)),
    "TIMESTAMP_NTZ": st.datetimes(),
    "DATE": st.dates(),
}


def values_of(kind: str) -> st.SearchStrategy[Any]:
    odd = st.sampled_from([None, *ODD_VALUES[kind]])
    return odd | _ANY_VALUES[kind] if kind in _ANY_VALUES else odd


ROWS = st.lists(st.tuples(*(values_of(column.type) for column in COLUMNS)), min_size=1, max_size=16)

_NUMBERS = st.sampled_from(
    [
        "n",
        "n",
        "k",
        "m",
        "m",
        "t",
        "s",
        "x",
        "y",
        "0",
        "1",
        "2",
        "-1",
        "7",
        "127",
        "2147483647",
        "-2147483648",
        "2147483648",
        "1.5",
        "0.0",
        "-0.0",
        "0.1",
        "NULL",
    ]
)
_TEXTS = st.sampled_from(["user", "page", "'a'", "''", "' '", "'é'", "NULL", "CAST(NULL AS STRING)"])
_CONDITIONS = st.sampled_from(["ok", "NOT ok", "true", "false", "user IS NULL", "n IS NOT NULL", "NULL"])
_TYPES = st.sampled_from(["INT", "BIGINT", "DOUBLE", "STRING", "SMALLINT", "TINYINT", "integer", "BOOLEAN"])
_NUMBER_FUNCTIONS = st.sampled_from(["abs", "floor", "ceil", "ceiling", "sign", "signum"])
_SIGNS = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "!=", "=="])


def case_of(value: st.SearchStrategy[str], condition: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("CASE WHEN {} THEN {} ELSE {} END".format, condition, value, value),
        st.builds("CASE WHEN {} THEN {} WHEN {} THEN {} END".format, condition, value, condition, value),
        st.builds("CASE {} WHEN {} THEN {} ELSE {} END".format, value, value, value, value),
        st.builds("if({}, {}, {})".format, condition, value, value),
        st.builds("coalesce({}, {})".format, value, value),
        st.builds("coalesce({}, {}, {})".format, value, value, value),
        st.builds("nvl({}, {})".format, value, value),
        st.builds("NULLIF({}, {})".format, value, value),
        st.builds("({})".format, value),
    )


_DOUBLES = st.sampled_from(["0.0", "-0.0", "0.1", "1.5", "-3", "9007199254740993", "0"])
_WHOLE_VALUES = ("at", "due", "day", "f", "raw", "price")
"""Columns of types of which values are given on and compared."""
whole_values = st.sampled_from(_WHOLE_VALUES).flatmap(
    lambda name: st.sampled_from([st.just(name), case_of(st.just(name) | st.just("NULL"), _CONDITIONS)])
)


_PARTS_OF_DAYS = (
    *("year", "quarter", "month", "day", "dayofmonth", "dayofweek", "weekday", "dayofyear", "weekofyear"),
)
_UNITS = (
    *("YEAR", "yyyy", "yy", "quarter", "MONTH", "mm", "mon", "Week", "day", "DD", "hour", "MINUTE", "second"),
    *("millisecond", "microsecond"),
)


_EXTRACTED = (*("YEAR", "quarter", "MONTH", "weeks", "day", "DOW", "dayofweek", "doy", "HOUR", "minutes"),)
_FIELDS = ["yyyy", "yy", "MM", "M", "dd", "d", "HH", "H", "mm", "m", "ss", "s", "S", "SSS", "SSSSSS"]
_FORMATS = st.lists(
    st.tuples(st.sampled_from(_FIELDS), st.sampled_from(["-", "/", ":", " ", ".", ", ", "_"])),
    min_size=1,
    max_size=5,
).map(lambda parts: "".join(map("".join, parts))) | st.sampled_from(
    ["yyyy-MM-dd", "yyyyMMdd", "HH", "E", "MMM"]
)


def dates(depth: int) -> st.SearchStrategy[str]:
    plain = st.sampled_from(["day", "eve", "DATE '2024-02-29'", "CAST(NULL AS DATE)"])
    if not depth:
        return plain
    inner, number = dates(depth - 1), st.sampled_from(["n", "t", "s", "1", "-31", "2147483647", "NULL"])
    return st.one_of(
        plain,
        st.builds("CAST({} AS DATE)".format, moments(depth - 1)),
        st.builds("to_date({})".format, moments(depth - 1) | inner),
        st.builds("trunc({}, '{}')".format, inner, st.sampled_from(_UNITS[:8])),
        st.builds("last_day({})".format, plain),
        st.builds("{}({}, {})".format, st.sampled_from(["date_add", "date_sub", "dateadd"]), plain, number),
        case_of(inner, _CONDITIONS),
    )


def moments(depth: int) -> st.SearchStrategy[str]:
    plain = st.sampled_from(["at", "due", "at", "TIMESTAMP '2026-02-28 12:30:00.5'"])
    if not depth:
        return plain
    inner = moments(depth - 1)
    return st.one_of(
        plain,
        st.builds("date_trunc('{}', {})".format, st.sampled_from(_UNITS), inner),
        st.builds("CAST({} AS {})".format, inner, st.sampled_from(["TIMESTAMP", "TIMESTAMP_NTZ"])),
        st.builds("timestamp_micros({})".format, st.sampled_from(["n", "t"])),
        st.builds(
            "{}({})".format,
            st.sampled_from(["timestamp_seconds", "timestamp_millis"]),
            st.sampled_from("nmt"),
        ),
        case_of(inner, _CONDITIONS),
    )


def of_times(depth: int) -> st.SearchStrategy[str]:
    """Numbers, texts and conditions of days and moments."""
    date, moment = dates(depth - 1), moments(depth - 1)
    return st.one_of(
        st.builds("{}({})".format, st.sampled_from(_PARTS_OF_DAYS), date | moment),
        st.builds("{}({})".format, st.sampled_from(["hour", "minute", "second"]), moment),
        st.builds("{}({}, {})".format, st.sampled_from(["datediff", "date_diff"]), date, date),
        st.builds("unix_{}({})".format, st.sampled_from(["seconds", "millis", "micros"]), moment),
        st.builds("unix_date({})".format, date),
        st.builds("CAST({} AS {})".format, date | moment, st.sampled_from(["STRING", "BIGINT"])),
        st.builds("date_format({}, '{}')".format, moment, _FORMATS),
        st.builds("from_unixtime({})".format, st.sampled_from("nmt")),
        st.builds("from_unixtime({}, '{}')".format, st.sampled_from("nms"), _FORMATS),
        st.builds("EXTRACT({} FROM {})".format, st.sampled_from(_EXTRACTED), date | moment),
        st.builds("date_part('{}', {})".format, st.sampled_from(_EXTRACTED), date | moment),
        st.builds("{} {} {}".format, date, _SIGNS, date),
        st.builds("{} {} {}".format, moment, _SIGNS, moment),
        st.builds("{} BETWEEN {} AND {}".format, date, date, date),
        date,
        moment,
    )


_INDICES = st.sampled_from(["0", "1", "-1", "2", "n", "t", "of.n", "size(counts) - 1", "NULL", "m"])
_ARRAYS = st.sampled_from(["tags", "counts", "ratios", "visits"])
_ELEMENTS = st.builds(
    "{}".format,
    st.one_of(
        st.builds("{}[{}]".format, _ARRAYS, _INDICES),
        st.builds("{}({}, {})".format, st.sampled_from(["get", "element_at"]), _ARRAYS, _INDICES),
    ),
)
_NUMBER_PARTS = st.one_of(
    st.sampled_from(["of.n", "extra['a']", "extra.b", "element_at(extra, 'a')", "of.deep.x", "visits[0].m"]),
    st.builds(
        "{}({})".format,
        st.sampled_from(["size", "cardinality"]),
        _ARRAYS | st.sampled_from(["extra", "names"]),
    ),
    st.builds("counts[{}]".format, _INDICES),
    st.builds("get(counts, {})".format, _INDICES),
    st.builds("element_at(ratios, {})".format, _INDICES),
    st.builds("get(visits, {}).m".format, _INDICES),
)
_TEXT_PARTS = st.one_of(
    st.sampled_from(["of.`a b`", "names[1]", "names[-1]", "element_at(names, 0)", "visits[1].page"]),
    st.builds("tags[{}]".format, _INDICES),
    st.builds("get(tags, {})".format, _INDICES),
    st.builds("element_at(tags, {})".format, _INDICES),
    st.builds("get(visits, {}).page".format, _INDICES),
)
_TESTS_OF_PARTS = st.one_of(
    st.builds(
        "array_contains(tags, {})".format,
        st.sampled_from(["'a'", "user", "of.`a b`", "get(tags, 0)", "NULL"]),
    ),
    st.builds("array_contains(counts, {})".format, st.sampled_from(["1", "n", "of.n", "m"])),
    st.builds("array_contains(ratios, {})".format, st.sampled_from(["x", "0.0", "y"])),
    st.builds("({}) IS {}NULL".format, _ELEMENTS | st.just("of.deep"), st.sampled_from(["", "NOT "])),
)
PARTS = st.one_of(
    _NUMBER_PARTS,
    _TEXT_PARTS,
    _TESTS_OF_PARTS,
    _ELEMENTS,
    st.sampled_from(["of.deep", "of.deep.day", "visits[0]"]),
)


def conditions(depth: int) -> st.SearchStrategy[str]:
    if not depth:
        return _CONDITIONS
    inner, number, text = conditions(depth - 1), numbers(depth - 1), texts(depth - 1)
    return st.one_of(
        inner,
        st.builds("{} {} {}".format, number, _SIGNS, number),
        st.builds("{} {} {}".format, text, _SIGNS, text),
        st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR", "="]), inner),
        st.builds("NOT ({})".format, inner),
        st.builds("({}) IS {}NULL".format, number | st.just("of"), st.sampled_from(["", "NOT "])),
        st.builds("{} {}BETWEEN {} AND {}".format, number, st.sampled_from(["", "NOT "]), number, number),
        st.builds("{} BETWEEN {} AND {}".format, text, text, text),
        st.builds("{} <=> {}".format, number, number),
        st.builds("{} <=> {}".format, text, text),
        st.builds("x {}IN ({}, {}, 1)".format, st.sampled_from(["", "NOT "]), _DOUBLES, _DOUBLES),
        whole_values.flatmap(lambda of: st.builds("{} {} {}".format, of, _SIGNS | st.just("<=>"), of)),
        whole_values.flatmap(lambda of: st.builds("({}) IS NULL".format, of)),
        st.builds("{} IN ({}, 1)".format, number, st.sampled_from(["0", "-1", "3000000000"])),
        st.builds("{} LIKE {}".format, text, st.sampled_from(["'a%'", "'%a'", "'%a%'", "'a'"])),
        st.builds("{} LIKE '{}'".format, text, _PATTERNS),
        st.builds("{} NOT LIKE '{}' ESCAPE '{}'".format, text, _PATTERNS, st.sampled_from("!!!%_")),
        st.builds("{}({}, 'a')".format, st.sampled_from(["startswith", "endsWith", "contains"]), text),
        _TESTS_OF_PARTS,
        case_of(inner, inner),
    )


def numbers(depth: int) -> st.SearchStrategy[str]:
    if not depth:
        return _NUMBERS
    inner, text = numbers(depth - 1), texts(depth - 1)
    return st.one_of(
        inner,
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "-", "*", "/", "+", "-", "*"]), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("-{}".format, inner.filter(lambda text: not text.startswith("-"))),
        st.builds("CAST({} AS {})".format, inner, _TYPES),
        st.builds("length({})".format, text),
        st.builds("{} {} {}".format, inner, st.sampled_from(["%", "div"]), inner),
        st.builds(
            "{} {} {}".format, inner, st.sampled_from(["/", "%", "DIV"]), st.sampled_from(["-1", "2", "1.5"])
        ),
        st.builds("mod({}, {})".format, inner, inner),
        st.builds(
            "{}({})".format, st.sampled_from(["abs", "floor", "ceil", "ceiling", "sign", "signum"]), inner
        ),
        st.builds("{}({}, {})".format, st.sampled_from(["greatest", "least"]), inner, inner),
        st.builds("greatest({}, {}, {})".format, inner, inner, inner),
        _NUMBER_PARTS,
        case_of(inner, conditions(depth - 1)),
    )


_PLACES = st.sampled_from(["0", "1", "2", "3", "5", "-1", "-2", "-3", "2147483647", "-2147483648"])
_PADS = st.sampled_from(["'a'", "'xyz'", "''", "'\u0301'"])
_PATTERNS = st.lists(st.sampled_from("a%_b!.\u00e9\n"), max_size=5).map("".join)


def texts(depth: int) -> st.SearchStrategy[str]:
    if not depth:
        return _TEXTS
    inner = texts(depth - 1)
    return st.one_of(
        inner,
        st.builds("{} || {}".format, inner, inner),
        st.builds(
            "{} || {}".format, inner, numbers(depth - 1) | st.sampled_from(["at", "day", "ok", "f", "raw"])
        ),
        st.builds("{}({}, {})".format, st.sampled_from(["greatest", "least"]), inner, inner),
        st.builds("concat({}, {}, {})".format, inner, inner, inner),
        st.builds("{}({})".format, st.sampled_from(["trim", "ltrim", "RTRIM"]), inner),
        st.builds("substring({}, {})".format, inner, _PLACES),
        st.builds("substr({}, {}, {})".format, inner, _PLACES, _PLACES),
        st.builds("{}({}, {})".format, st.sampled_from(["left", "right", "repeat", "lpad"]), inner, _PLACES),
        st.builds("{}({})".format, st.sampled_from(["upper", "lower", "ucase", "LCASE"]), inner),
        st.builds("replace({}, {})".format, inner, st.sampled_from(["'a'", "'ab', 'a'", "'aa', 'b'", "''"])),
        st.builds("{}({}, {}, {})".format, st.sampled_from(["lpad", "rpad"]), inner, _PLACES, _PADS),
        st.builds("concat_ws({}, {}, {})".format, _PADS, inner, inner),
        st.builds("CAST({} AS STRING)".format, numbers(depth - 1) | conditions(depth - 1)),
        _TEXT_PARTS,
        case_of(inner, conditions(depth - 1)),
    )


EXPRESSIONS = st.one_of(
    *(kind(depth) for kind in (numbers, texts, conditions) for depth in (1, 2, 3)),
    *(numbers(2), numbers(2), conditions(2)),
    *(PARTS, PARTS),
    *(of_times(1), of_times(2), of_times(3), of_times(2)),
    st.sampled_from(_WHOLE_VALUES).flatmap(
        lambda name: case_of(st.sampled_from([name, "NULL"]), _CONDITIONS)
    ),
)


def tried(frame: DataFrame, texts: list[str]) -> list[SparkColumn]:
    """Each expression, null in place of an array of its value on rows where it fails."""
    jvm: Any = frame.sparkSession.sparkContext._jvm
    sql, columns = jvm.org.apache.spark.sql, []
    for text in texts:
        value = sql.classic.ExpressionUtils.expression(F.array(F.expr(text))._jc)
        caught = sql.catalyst.expressions.TryEval(value)
        columns.append(SparkColumn(sql.classic.ExpressionUtils.column(caught)))
    return columns


@contextmanager
def optimized_as_rows_of_a_batch(spark: SparkSession) -> Iterator[None]:
    """Rows that stand in a plan are computed before most rules of the optimizer have seen it."""
    setting = "spark.sql.optimizer.excludedRules"
    before = str(spark.conf.get(setting))
    spark.conf.set(setting, f"{before},org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation")
    try:
        yield
    finally:
        spark.conf.set(setting, before)


def comparable(kind: pa.DataType) -> pa.DataType:
    """The type that results are compared as: Python has fewer days and moments than Spark."""
    if pa.types.is_date32(kind):
        return pa.int32()
    return pa.int64() if pa.types.is_timestamp(kind) else kind


def by_spark(spark: SparkSession, texts: list[str], rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    """For each expression what Spark gives for each row; the text "fails" where it fails."""
    values = list(zip(*rows, strict=True))
    table = pa.table([pa.array(v, f.type) for v, f in zip(values, SCHEMA, strict=True)], schema=SCHEMA)
    frame = spark.createDataFrame(table)
    with optimized_as_rows_of_a_batch(spark), without_shared_subexpressions(spark):
        results = frame.select(*(c.alias(f"c{n}") for n, c in enumerate(tried(frame, texts)))).toArrow()
    return [
        ["fails" if each is None else repr(each[0]) for each in column.cast(pa.list_(kind)).to_pylist()]
        for column in results.columns
        for kind in [comparable(column.type.value_type)]
    ]


def by_worker(plain: PlainValue, rows: list[tuple[Any, ...]]) -> list[Any]:
    columns = [pa.array(v, f.type) for v, f in zip(zip(*rows, strict=True), SCHEMA, strict=True)]
    values = RowValues(columns, len(rows))
    column = values.column(plain.value, arrow_type(plain.type))
    results = column.cast(comparable(column.type)).to_pylist()
    return ["fails" if n in values.failures else repr(value) for n, value in enumerate(results)]


@settings(max_examples=250)
@given(st.lists(EXPRESSIONS, min_size=8, max_size=16), ROWS)
def test_a_value_and_its_failures_are_those_of_spark(
    spark: SparkSession, expressions: list[str], rows: list[tuple[Any, ...]]
) -> None:
    plain_values = {text: plain for text in expressions if (plain := plain_value(text, SCOPE))}
    if not plain_values:
        return
    named = [f"{text} AS c{n}" for n, text in enumerate(plain_values)]
    assert [column.type for column in columns_by_spark(spark, named, SCOPE)] == [
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


def _without_spark(text: str) -> SparkSession:
    raise LookupError(text)


NO_SPARK = SparkOnDemand(_without_spark)


@settings(max_examples=150)
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
            select(spark, text, SCOPE)
        return
    assert plain.columns == columns_by_spark(spark, [text], SCOPE)
    items = [item for item in parsed_select_items(spark, text) if not item.star]
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
    assert plain.columns == columns_by_spark(spark, [text], SCOPE)
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
    "n * 1.5",
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
    "CAST(user AS DATE)",
    "int(user)",
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
    "price > 1",
    "x IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)",
    "x IN (1, NULL)",
    "if(ok, of, NULL)",
    "coalesce(at, day)",
    "hour(day)",
    "year(user)",
    "date_trunc('HOUR', due)",
    "date_trunc('HOUR', day)",
    "date_trunc(user, at)",
    "date_trunc('decade', at)",
    "trunc(at, 'MM')",
    "trunc(day, 'DAY')",
    "date_add(at, 1)",
    "date_add(day, m)",
    "day + 1",
    "datediff(at, day)",
    "to_date(user)",
    "to_date(user, 'yyyy')",
    "CAST(day AS TIMESTAMP)",
    "CAST(at AS INT)",
    "CAST(due AS BIGINT)",
    "timestamp_millis(m) > at AND ok",
    "timestamp_seconds(x)",
    "unix_millis(due)",
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
    "date_format(day, 'yyyy')",
    "EXTRACT(SECOND FROM at)",
    "EXTRACT(HOUR FROM day)",
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
]


@pytest.mark.parametrize("text", PLAIN)
def test_expressions_that_most_apps_have_need_no_spark(text: str) -> None:
    assert plain_value(text, SCOPE) is not None


@pytest.mark.parametrize("text", LEFT_TO_SPARK)
def test_what_spark_may_compute_in_another_way_is_left_to_it(text: str) -> None:
    assert plain_value(text, SCOPE) is None


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
        *(
            "n % (n - n)",
            "x % y",
            "mod(m, n - n)",
            "n div (n - n)",
            "(-m - 1) div -1",
            "abs(k)",
            "abs(-m - 1)",
            "floor(m * (x + 2.0))",
            "ceil(m * (y - 2.0))",
        ),
        *("timestamp_millis(m)", "timestamp_seconds(-m)"),
        *(
            "tags[n]",
            "tags[-1]",
            "tags[2]",
            "element_at(tags, n)",
            "element_at(tags, 0)",
            "element_at(tags, k)",
        ),
        *("n + 1", "k - 1", "n * n", "m + 1", "-m - 3", "m * m", "-k", "n / x", "x / y", "n / (n - n)"),
        *(
            "CAST(m AS INT)",
            "CAST(m AS SMALLINT)",
            "CAST(n AS TINYINT)",
            "CAST(CAST(200 + n AS INT) AS TINYINT)",
        ),
    ):
        yield text, edges


def test_an_error_has_the_words_of_spark(spark: SparkSession) -> None:
    for text, edges in failing(spark):
        row = tuple(edges.get(column.name) for column in COLUMNS)
        plain = plain_value(text, SCOPE)
        assert plain is not None, text
        assert may_fail(plain.value)
        values = RowValues([pa.array([v], f.type) for v, f in zip(row, SCHEMA, strict=True)], 1)
        values.column(plain.value, arrow_type(plain.type))
        frame = spark.createDataFrame(
            pa.table([pa.array([v], f.type) for v, f in zip(row, SCHEMA, strict=True)], schema=SCHEMA)
        )
        with pytest.raises(PySparkException) as error:
            frame.selectExpr(f"{text} AS v").collect()
        assert values.failures == {0: spark_message(error.value)}, text


ODD_TEXTS = [
    *(
        "0",
        "-0",
        "+1",
        "1.5",
        "1.",
        ".5",
        ".",
        "",
        " ",
        "+",
        "-",
        "--1",
        " 7 ",
        "\t7\n",
        "\x007\x7f",
        "\u00a07",
    ),
    *(
        "127",
        "128",
        "-128",
        "-129",
        "32768",
        "2147483647",
        "-2147483649",
        "9223372036854775807",
        "1e3",
        "1e400",
    ),
    *(
        "9223372036854775808",
        "0" * 30 + "1",
        "9" * 5000,
        "\u0661",
        "1_0",
        "0x1p3",
        "0x.8p1",
        "0x1p99999",
        "0x1",
        "0xp1",
    ),
    *(
        "-0x1.8P-1d",
        "1f",
        "1.5D",
        "1e-400",
        "1e",
        "e1",
        "NaN",
        "nan",
        "-NaN",
        "-nan",
        "+nan",
        "Infinity",
        "-Infinity",
    ),
    *(
        "+infinity",
        "INF",
        "-inf",
        "inf ",
        "Inf\x7f",
        "infinit",
        "true",
        "T",
        " yes\x7f",
        "no",
        "N",
        "False",
        "2",
        "tru",
    ),
    *(
        "it's",
        "a\\b",
        "a\nb",
        "\nb",
        "a\n",
        "\u212a",
        "9007199254740993",
        "2.2250738585072012e-308",
        "0x1fffffffffffffp-53",
    ),
    *(
        "a SQLSTATE: 1",
        "[X] a",
        "1 2",
        "4.9e-324",
        "2.4703282292062328e-324",
        "1.7976931348623159e308",
        "-0.0",
        "0x0p0",
    ),
]


@pytest.mark.parametrize("kind", ["TINYINT", "SMALLINT", "INT", "BIGINT", "DOUBLE", "BOOLEAN"])
def test_a_text_is_cast_as_spark_casts_it(spark: SparkSession, kind: str) -> None:
    text = f"CAST(user AS {kind})"
    plain = plain_value(text, SCOPE)
    assert plain is not None
    rows = [(odd, *(None,) * (len(COLUMNS) - 1)) for odd in ODD_TEXTS]
    for odd, mine, wanted in zip(
        ODD_TEXTS, by_worker(plain, rows), *by_spark(spark, [text], rows), strict=True
    ):
        assert mine == wanted, ascii(odd)


@settings(max_examples=40)
@given(
    st.lists(st.text(st.sampled_from("0123456789.eE+-xXpPaAfFdDnNiItTyY \t\x7f")), min_size=1, max_size=300)
)
def test_any_text_is_cast_as_spark_casts_it(spark: SparkSession, texts: list[str]) -> None:
    rows = [(text, *(None,) * (len(COLUMNS) - 1)) for text in texts]
    casts = [f"CAST(user AS {kind})" for kind in ("INT", "DOUBLE", "BOOLEAN")]
    plain_casts = [plain for cast in casts if (plain := plain_value(cast, SCOPE))]
    assert [by_worker(plain, rows) for plain in plain_casts] == by_spark(spark, casts, rows)


@pytest.mark.parametrize("odd", ["a", "", "it's", "a\\b", "a\nb", "\nb", "a SQLSTATE: 1", "1.5"])
def test_a_text_that_cannot_be_cast_is_told_in_the_words_of_spark(spark: SparkSession, odd: str) -> None:
    plain = plain_value("CAST(user AS INT)", SCOPE)
    assert plain is not None
    values = RowValues([pa.array([odd])], 1)
    values.column(plain.value, pa.int32())
    with pytest.raises(PySparkException) as error:
        spark.createDataFrame([(odd,)], "user STRING").selectExpr("CAST(user AS INT)").collect()
    assert values.failures == {0: spark_message(error.value)}


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
    texts = ["n + m * m", "(k / x) / n", "(m * m) / n", "n > m * m", "n - (m + 1)"]
    for text, wanted in zip(texts, by_spark(spark, texts, [row]), strict=True):
        plain = plain_value(text, SCOPE)
        assert plain is not None, text
        assert by_worker(plain, [row]) == wanted == ["None"], text


@pytest.mark.parametrize(
    "moment", [2**53, -(2**53), 2**62, -(2**62), 253_402_300_800_000_000, -62_135_596_800_000_001]
)
def test_moments_and_days_outside_of_four_digits_are_those_of_spark(spark: SparkSession, moment: int) -> None:
    """Python has no such days: Spark gets them by their number."""
    row = tuple({"m": moment, "n": moment // 86_400_000_000}.get(column.name) for column in COLUMNS)
    at, day = "timestamp_micros(m)", "date_from_unix_date(n)"
    texts = [f"CAST({of} AS STRING)" for of in (at, day, f"CAST({at} AS DATE)", f"last_day({day})")]
    texts += [f"{part}({of})" for part in _PARTS_OF_DAYS for of in (at, day)]
    texts += [f"unix_micros(date_trunc('{unit}', {at}))" for unit in _UNITS]
    texts += [f"unix_date(trunc({day}, '{unit}'))" for unit in _UNITS[:8]]
    texts += [f"date_format({at}, '{form}')" for form in ("yyyy-M-d H:m:s.SSSSSS", "yy/MM/dd HHmmss")]
    texts += ["from_unixtime(m)", f"EXTRACT(WEEK FROM {at})", f"date_part('DOY', {day})"]
    texts += [f"hour({at})", f"unix_millis({at})", f"unix_seconds({at})"]
    for text, wanted in zip(texts, by_spark(spark, texts, [row]), strict=True):
        plain = plain_value(text, SCOPE)
        assert plain is not None, text
        assert by_worker(plain, [row]) == wanted, text
