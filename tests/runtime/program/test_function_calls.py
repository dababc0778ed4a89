"""Functions and signs that a worker computes, beside Spark: of columns, literals, nulls and what may fail."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamapp.columns.function_arities import FUNCTION_ARITIES
from streamapp_runtime.expressions.analysis import columns_by_spark
from streamapp_runtime.expressions.plain.plain_functions import CALLS
from streamapp_runtime.expressions.plain.plain_types import PlainValue
from streamapp_runtime.expressions.plain.plain_value import plain_value
from streamapp_runtime.expressions.spark_messages import spark_message
from streamapp_runtime.formats.arrow_types import arrow_type
from streamapp_runtime.operators.stateless.value_evaluation import RowValues
from tests.harness.machine.random_cases import share
from tests.harness.oracles.function_calls import SIGNATURES, FunctionCall, calls
from tests.harness.oracles.spark_values import by_spark, by_worker, columns_of, table_of
from tests.harness.oracles.value_rows import COLUMNS, ODD_VALUES, SCOPE

MOST_ARGUMENTS = 3
AT_ONCE = 60
"""Expressions of one query; of many more, Spark compiles none."""
ROWS = [
    tuple(
        [None, *ODD_VALUES[column.type]][row and (7 * row + 3 * place) % (1 + len(ODD_VALUES[column.type]))]
        for place, column in enumerate(COLUMNS)
    )
    for row in range(24)
]


def computed(listed: Iterable[FunctionCall]) -> Iterator[tuple[FunctionCall, PlainValue]]:
    """Those that a worker computes, and how."""
    return ((call, plain) for call in listed if (plain := plain_value(call.text, SCOPE)) is not None)


def some_computed(number: int) -> dict[str, PlainValue]:
    """About so many of them, by text: first one of each form with each sort of argument in each place."""
    firsts: dict[str, PlainValue] = {}
    others: dict[str, PlainValue] = {}
    for _, alike in groupby(sorted(calls()), lambda call: (call.form, call.sorts)):
        (*first,) = islice(every := computed(alike), 1)
        firsts |= {call.text: plain for call, plain in first}
        others |= {call.text: plain for call, plain in every}
    step = len(firsts) // number or 1
    return dict(list((firsts | others).items())[: max(number, len(firsts)) : step])


def test_every_function_that_a_worker_knows_is_tried_with_all_numbers_of_arguments() -> None:
    known = {
        name: {count for count in counts if count <= MOST_ARGUMENTS}
        for names, counts, _ in CALLS
        for name in names
    }
    tried = {name: {form.count(",") + 1 for form in forms} for name, forms in SIGNATURES.items()}
    assert tried == known
    missing = {name: counts - FUNCTION_ARITIES.get(name, counts) for name, counts in known.items()}
    assert not any(missing.values())


def test_a_worker_computes_some_call_of_every_form_and_each_that_it_takes() -> None:
    for form, of_form in groupby(calls(), lambda call: call.form):
        values = [plain for _, plain in islice(computed(of_form), 2)]
        assert values, form
        assert all(len(by_worker(plain, ROWS)) == len(ROWS) for plain in values)


@pytest.mark.parametrize(
    ("text", "as_computed"),
    [
        ("n + 1 + k", "n + k + 1"),
        ("1 + (n + (k + t))", "n + k + t + 1"),
        ("n * (2 * k)", "n * k * 2"),
        ("m + (n + 1)", "m + (1 + n)"),
    ],
)
def test_the_constant_of_a_chain_of_whole_numbers_comes_last(text: str, as_computed: str) -> None:
    first, other = plain_value(text, SCOPE), plain_value(as_computed, SCOPE)
    assert first is not None
    assert other is not None
    assert first.value == other.value


def test_calls_have_the_types_values_and_failures_that_they_have_in_spark(spark: SparkSession) -> None:
    values = some_computed(share(5))
    texts = list(values)
    for first in range(0, len(texts), AT_ONCE):
        listed = texts[first : first + AT_ONCE]
        named = [f"{text} AS c{number}" for number, text in enumerate(listed)]
        assert [column.type for column in columns_by_spark(spark.sparkContext, named, SCOPE)] == [
            values[text].type for text in listed
        ]
        for text, expected in zip(listed, by_spark(spark, listed, ROWS), strict=True):
            assert by_worker(values[text], ROWS) == expected, text


def failing() -> Iterator[tuple[str, tuple[Any, ...], str]]:
    """Of each form a call and a row on which it fails, though its arguments do not, and the words of it."""
    of_columns = [call for call in calls() if "may fail" not in call.sorts and "column" in call.sorts]
    for _, of_form in groupby(of_columns, lambda call: call.form):
        for call, plain in computed(of_form):
            values = RowValues(columns_of(ROWS), len(ROWS))
            values.column(plain.value, arrow_type(plain.type))
            if values.failures:
                number, message = min(values.failures.items())
                yield call.text, ROWS[number], message
                break


def test_a_call_fails_in_the_words_of_spark(spark: SparkSession) -> None:
    of_forms = list(failing())
    for text, row, message in of_forms[:: -(-len(of_forms) // share(0.15))]:
        with pytest.raises(PySparkException) as error:
            spark.createDataFrame(table_of([row])).selectExpr(f"{text} AS v").collect()
        assert message == spark_message(error.value), text
