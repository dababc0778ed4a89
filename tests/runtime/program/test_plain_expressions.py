"""What is read without Spark is what Spark reads."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.columns.compile_refusal import CompileRefusedError
from streamapp.spec.value_types.column_list import SIMPLE, Column, parse_columns
from streamapp_runtime.expressions.analysis import (
    ROW_FUNCTIONS,
    AllowedFunctions,
    canonical,
    columns_by_spark,
    plain_columns,
)
from streamapp_runtime.expressions.catalyst import parsed_select_items, read_select_items
from streamapp_runtime.expressions.expression import bind, expression, single_item
from streamapp_runtime.expressions.plain import plain_types
from streamapp_runtime.expressions.plain.plain_expression import plain_entries
from streamapp_runtime.expressions.plain.plain_value import plain_condition
from streamapp_runtime.expressions.row_value import ColumnValue, Predicate, RowValue, parts_of
from streamapp_runtime.expressions.spark_source import SparkJvm, SparkOnDemand
from streamapp_runtime.expressions.sql_types import columns_of_schema, read_ddl
from tests.harness.engine.analysed_condition import analysed_predicate

COLUMNS = (
    *parse_columns(
        "user STRING, page STRING, n INT, b BIGINT, t TINYINT, ok BOOLEAN, x DOUBLE, ts TIMESTAMP, "
        "`a b` STRING, time STRING, date DATE, value BINARY"
    ),
    Column("d", "DECIMAL(9,2)"),
    Column("s", "STRUCT<`f`: STRING>"),
)
SIDE = (Column("country", "STRING"), Column("tier", "INT"))
SCOPE = ColumnScope((ScopeSide("views", COLUMNS), ScopeSide("users", SIDE)))


def _without_spark(text: str) -> SparkJvm:
    raise AssertionError(f"Spark is asked for {text}")


NO_SPARK = SparkOnDemand(_without_spark)

NAMES = ("user", "page", "n", "b", "t", "ok", "x", "ts", "`a b`", "d", "time", "date", "value", "country")
MORE_NAMES = (
    "users.tier",
    "views.page",
    "left.page",
    "right.tier",
    "USER",
    "nobody",
    "s.f",
    "null",
    "true",
    "current_date",
    "from",
    "end",
)
SPACE = st.sampled_from(("", " ", "  ", "\n"))


@st.composite
def entries(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from((*NAMES, *MORE_NAMES)))
    value = draw(
        st.sampled_from((name, "*", "users.*", f"count({name})", f"sum( {name})", "count(*)", f"{name} + 1"))
    )
    alias = draw(st.sampled_from(("", "", " AS m", " as `m n`", " m", " AS end", " AS s.t")))
    return draw(SPACE) + value + alias + draw(SPACE)


@given(st.lists(entries(), min_size=1, max_size=3).map(",".join))
def test_a_plain_list_has_the_entries_that_spark_finds(spark: SparkSession, text: str) -> None:
    if plain_entries(text) is not None:
        assert read_select_items(NO_SPARK, text) == parsed_select_items(spark.sparkContext, text)


@given(entries(), st.booleans())
def test_a_plain_entry_has_the_name_and_type_that_spark_gives_it(
    spark: SparkSession, text: str, aggregates: bool
) -> None:
    allowed = AllowedFunctions(aggregates=True) if aggregates else ROW_FUNCTIONS
    plain = plain_columns([text], SCOPE, allowed)
    if plain is not None:
        assert plain == columns_by_spark(spark.sparkContext, [text], SCOPE, allowed)


DECIMAL_TYPES = st.integers(1, 38).flatmap(
    lambda digits: st.integers(0, digits).map(lambda scale: f"DECIMAL({digits},{scale})")
)


@given(DECIMAL_TYPES, st.sampled_from(("sum", "min", "max", "count")))
def test_a_total_of_a_decimal_has_the_type_that_spark_gives_it(
    spark: SparkSession, kind: str, function: str
) -> None:
    scope = ColumnScope((ScopeSide("", (Column("price", kind),)),))
    text, allowed = f"{function}(price) AS total", AllowedFunctions(aggregates=True)
    plain = plain_columns([text], scope, allowed)
    assert plain == columns_by_spark(spark.sparkContext, [text], scope, allowed)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("sum(d)", "DECIMAL(19,2)"), ("min(d)", "DECIMAL(9,2)"), ("max(d)", "DECIMAL(9,2)")],
)
def test_totals_of_decimals_are_plain(text: str, kind: str) -> None:
    assert plain_columns([text], SCOPE, AllowedFunctions(aggregates=True)) == (Column(text, kind),)


LITERALS = (
    "'a'",
    "'/health%'",
    "'%a'",
    "'%a%'",
    "'a_b'",
    "''",
    "1",
    "300",
    "true",
    "FALSE",
    "NULL",
    "-1",
    "1.5",
)
VALUES = st.sampled_from((*NAMES, "users.tier", "s.f", "nobody", *LITERALS))
SIGNS = st.sampled_from(
    ("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>", " LIKE ", " NOT LIKE ", " like ", " + ")
)
TESTS = (
    st.builds("{} {}BETWEEN {} AND {}".format, VALUES, st.sampled_from(("", "NOT ")), VALUES, VALUES)
    | st.builds(lambda left, sign, right: f"{left}{sign}{right}", VALUES, SIGNS, VALUES)
    | st.builds(
        lambda value, test: f"{value} {test}", VALUES, st.sampled_from(("IS NULL", "is not null", ""))
    )
    | st.builds(
        lambda value, negation, among: f"{value} {negation}IN ({', '.join(among)})",
        VALUES,
        st.sampled_from(("", "NOT ")),
        st.lists(VALUES, min_size=1, max_size=3),
    )
)
CONDITIONS = st.recursive(
    TESTS,
    lambda inner: (
        st.builds(lambda of: f"NOT {of}", inner)
        | st.builds(lambda of: f"({of})", inner)
        | st.builds(
            lambda parts, word: word.join(parts),
            st.lists(inner, min_size=2, max_size=5),
            st.sampled_from((" AND ", " or ")),
        )
    ),
    max_leaves=6,
)


def _is_predicate_of_spark(text: str, value: RowValue) -> bool:
    """Whether Spark's tree has the same nodes: not for BETWEEN and `<=>`, and its rows here have no sides."""
    if isinstance(value, ColumnValue) and SCOPE.columns[value.position].type not in plain_types.KINDS:
        return False
    is_known = isinstance(value, Predicate) and not re.search(r"BETWEEN|<=>|[a-z]\.", text)
    return is_known and all(_is_predicate_of_spark(text, part) for part in parts_of(value))


@given(CONDITIONS)
def test_a_plain_condition_is_the_predicate_and_the_template_that_spark_makes_of_it(
    spark: SparkSession, text: str
) -> None:
    plain = plain_condition(text, SCOPE)
    if plain is None:
        return
    analysed = analysed_predicate(spark, text, SCOPE)
    assert analysed == plain or (analysed is None and not _is_predicate_of_spark(text, plain))
    if plain_entries(text) is None:
        (item,) = parsed_select_items(spark.sparkContext, text)
        (column,) = columns_by_spark(spark.sparkContext, [item.text], SCOPE)
        assert expression(NO_SPARK, text, SCOPE) == (bind(item, SCOPE), column.type)


@pytest.mark.parametrize(
    "text",
    [
        "page NOT LIKE '/health%'",
        "n > 3 AND (user = 'ann' OR tier IN (1, 2))",
        "NOT ok OR page IS NOT NULL AND b <= 7",
        "page = user",
        "users.tier = 1 AND views.page IS NOT NULL",
        "s.f = 'a' AND ok",
    ],
)
def test_conditions_that_most_apps_have_are_plain(text: str) -> None:
    assert plain_condition(text, SCOPE) is not None


@pytest.mark.parametrize(
    "text",
    [
        "initcap(page) = 'A'",
        "n = '1'",
        "page LIKE user",
        "d / 2 > 1",
        "d IN (1)",
        "page = 'a' 'b'",
        "n = 1 -- c",
    ],
)
def test_what_means_more_is_left_to_spark(text: str) -> None:
    assert plain_condition(text, SCOPE) is None
    with pytest.raises(AssertionError, match="Spark is asked"):
        single_item(NO_SPARK, text)


KINDS = st.recursive(
    st.sampled_from((*SIMPLE, "DECIMAL", "DEC(7)", "NUMERIC(38, 18)")),
    lambda inner: (
        st.builds("ARRAY<{}>".format, inner)
        | st.builds("MAP<{}, {}>".format, st.sampled_from(("STRING", "INTEGER", "DEC(3, 1)")), inner)
        | st.builds("STRUCT<a: {}, `b, ``c`: {}, d {}>".format, inner, inner, inner)
    ),
    max_leaves=5,
)


@given(KINDS)
def test_declared_types_are_named_without_spark_as_with_it(spark: SparkSession, kind: str) -> None:
    (column,) = parse_columns(f"c {kind}")
    assert canonical((column,)) == columns_of_schema(read_ddl(f"c {kind}"))


@pytest.mark.parametrize("kind", ["CHAR(3)", "ARRAY<VARCHAR(9)>"])
def test_texts_of_a_fixed_length_are_refused_as_they_are_declared(kind: str) -> None:
    with pytest.raises(CompileRefusedError, match=re.escape(f'column "c" is {kind}, which rows cannot hold')):
        canonical(parse_columns(f"c {kind}"))
