from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.value_types.expressions import (
    SqlToken,
    list_entries,
    sql_tokens,
    unbalanced,
    within_brackets,
    without_alias,
)
from tests.harness.core.sample_resource import changed, told

FINE = [
    "page NOT LIKE '/health%'",
    "concat('it''s', \"a)b\", `odd (name`)",
    r"a = 'it\'s' AND b = '('",
    "a > 1 -- don't count (these\n AND b < 2",
    "a /* it's ( */ + b",
    "a /* x /* y */ it's */ + b",
    "a -- it goes on \\\nin the next line (",
    r"path = r'C:\'",
    "items[0].price * (1 + tax)",
    "a - -1",
    "a / b",
]
WRONG = [
    ("  ", "is empty; write a Spark SQL expression"),
    ("-- a", "is empty; write a Spark SQL expression"),
    ("a -- b\r + 'c", "the quote ' at character 11 is not closed"),
    ("a /* b /* c */", "the comment /* at character 3 is not closed"),
    ("a = 'x", "the quote ' at character 5 is not closed"),
    (r"a = 'x\'", "the quote ' at character 5 is not closed"),
    ("`a", "the quote ` at character 1 is not closed"),
    ("(a + b", "the ( at character 1 is not closed"),
    ("f(a[0)", "the ) at character 6 closes nothing"),
    ("a)", "the ) at character 2 closes nothing"),
    ("a /* b", "the comment /* at character 3 is not closed"),
    (r"r'C:\'+'", "the quote ' at character 8 is not closed"),
]


@pytest.mark.parametrize("expression", FINE)
def test_an_expression_whose_quotes_and_brackets_close_is_left_to_spark(expression: str) -> None:
    assert unbalanced(expression) == ""


@pytest.mark.parametrize(("expression", "message"), WRONG)
def test_the_first_quote_or_bracket_that_does_not_close_is_told(expression: str, message: str) -> None:
    path = "spec.operators[0].filter.where"
    assert told(changed(path, expression)) == [f"{path}: {message}"]


def test_every_field_that_holds_an_expression_is_looked_at() -> None:
    fields = [
        "operators[1].partitionBy.key",
        "operators[2].joinTable.select",
        "operators[3].joinTable.key",
        "operators[5].flatMap.select",
        "operators[7].join.where",
        "operators[8].aggregate.aggregates",
        "operators[11].sendToTable.deleteWhere",
    ]
    for field in fields:
        assert told(changed(f"spec.{field}", "f(")) == [f"spec.{field}: the ( at character 2 is not closed"]


balanced = st.recursive(
    st.sampled_from(["a", "1", "'('", '"]"', "`[`", "'it''s'", r"'\''", "/* ( */", "-- '\n"]),
    lambda inner: st.one_of(
        inner.map(lambda e: f"({e})"), inner.map(lambda e: f"[{e}]"), st.tuples(inner, inner).map(" ".join)
    ),
)


@given(balanced)
def test_what_is_balanced_is_never_refused_and_one_more_bracket_always_is(expression: str) -> None:
    assert unbalanced(expression) == ""
    assert unbalanced(expression + ")")
    assert unbalanced("(" + expression)


@given(st.text("()[]'\"`\\-/*rR \n", max_size=40))
def test_any_text_is_judged_without_an_exception(expression: str) -> None:
    assert isinstance(unbalanced(expression), str)


def texts(entries: Iterable[Sequence[SqlToken]]) -> list[str]:
    return [" ".join(token.text for token in entry) for entry in entries]


def test_a_list_is_divided_where_no_bracket_text_or_comment_is_open() -> None:
    tokens = sql_tokens("f(a, b)[c, d] AS `e, f`, 'g, h' -- i, j\n, /* k, */ r'\\', l")
    assert texts(list_entries(tokens)) == ["f ( a , b ) [ c , d ] AS `e, f`", "'g, h'", "r'\\'", "l"]
    assert list(list_entries(())) == []


def test_what_stands_in_brackets_is_handed_out_by_outermost_pairs() -> None:
    tokens = sql_tokens("f(a, (b)) FILTER (WHERE c[0] > 1)")
    assert texts(within_brackets(tokens)) == ["a , ( b )", "WHERE c [ 0 ] > 1"]


@pytest.mark.parametrize(
    ("entry", "aliases"), [("f(a) AS b", 1), ("f(a) b", 1), ("f(a) AS `b c`", 1), ("f(a) AS (b, c)", 2)]
)
def test_an_entry_ends_before_its_alias(entry: str, aliases: int) -> None:
    assert texts([without_alias(sql_tokens(entry), aliases)]) == ["f ( a )"]
